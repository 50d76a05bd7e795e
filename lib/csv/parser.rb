# frozen_string_literal: true

class CSV
  # Reads rows: one logical line at a time, then fields, headers and converters.
  class Parser
    attr_reader :headers, :lineno, :line

    def initialize(io, options, converters, header_converters)
      @io = io
      @o = options
      @col = options[:col_sep].to_s
      raise ArgumentError, ":col_sep must be 1 or more characters: #{@col.inspect}" if @col.empty?
      @quote = options[:quote_char]
      raise ArgumentError, ":quote_char has to be nil or a single character String" if @quote && @quote.length != 1
      @converters = converters
      @header_converters = header_converters
      @limit = options[:field_size_limit] || (options[:max_field_size] && options[:max_field_size] + 1)
      @liberal = options[:liberal_parsing] ? true : false
      @double_outside = options[:liberal_parsing].is_a?(Hash) && options[:liberal_parsing][:double_quote_outside_quote]
      @skip = skipper(options[:skip_lines])
      @strip = options[:strip]
      @lineno = 0
      @line = nil
      @headers = nil
      @peeked = []
      prepare_headers
    end

    def row_sep
      @row_sep ||= @o[:row_sep] == :auto ? guess : @o[:row_sep].to_s
    end

    # The next row without taking it.
    def peek
      @peeked << next_row if @peeked.empty?
      @peeked.first
    end

    def shift
      return @peeked.shift unless @peeked.empty?
      next_row
    end

    private

    def skipper(skip)
      case skip
      when nil then nil
      when String then ->(l) { l.include?(skip) }
      else
        raise ArgumentError, ":skip_lines has to respond to #match: #{skip.inspect}" unless skip.respond_to?(:match)
        ->(l) { skip.match(l) }
      end
    end

    # The first line ending of the text decides.
    def guess
      return $/ unless @io.respond_to?(:pos) && @io.respond_to?(:seek)
      begin
        at = @io.pos
        found = nil
        carry = +""
        until found
          chunk = @io.read(1024)
          break if chunk.nil?
          carry << chunk.b
          next if carry.end_with?("\r") && !@io.eof?
          found = carry[/\r\n|\n|\r/n]
          carry = +"" unless found
        end
        @io.seek(at)
        found&.encode(@io.respond_to?(:external_encoding) && @io.external_encoding ? @io.external_encoding : Encoding::UTF_8) || $/ || "\n"
      rescue IOError, SystemCallError
        $/ || "\n"
      end
    end

    def prepare_headers
      case @o[:headers]
      when Array then @given = @o[:headers]
      when String then @given = CSV.parse_line(@o[:headers], col_sep: @col, row_sep: @o[:row_sep] == :auto ? "\n" : @o[:row_sep], quote_char: @quote || '"')
      end
      return unless @given
      set_headers(@given.map { |h| h })
      @pending_header = @o[:return_headers]
    end

    def set_headers(list)
      @headers = list.each_with_index.map do |h, i|
        next h unless h.is_a?(String)
        @header_converters.inject(h.dup) do |v, c|
          break v unless v.is_a?(String)
          c.arity == 1 || c.arity < 0 && c.lambda? == false ? c.call(v) : c.call(v, FieldInfo.new(i, @lineno, nil, false))
        end
      end
      @headers.each { |h| h.freeze if h.is_a?(String) }
      @headers.freeze
    end

    def next_row
      if @pending_header
        @pending_header = false
        return Row.new(@headers, @given, true)
      end
      while true
        fields = raw_row or return nil
        if fields.empty?
          next if @o[:skip_blanks]
        end
        unless @o[:headers]
          return convert(fields, nil)
        end
        if @headers.nil?
          set_headers(fields.map { |f| f && f[0] })
          return Row.new(@headers, fields.map { |f| f && f[0] }, true) if @o[:return_headers]
          next
        end
        return Row.new(@headers, convert(fields, @headers))
      end
    end

    def convert(fields, headers)
      raw = fields.map { |f| f && f[0] }
      row = fields.each_with_index.map do |f, i|
        if f.nil? || f[0].nil?
          next @o[:nil_value]
        end
        text, quoted = f
        next @o[:empty_value] if text.empty? && quoted && @o[:empty_value] != ""
        next text if @converters.empty?
        @converters.inject(text) do |v, c|
          break v unless v.is_a?(String)
          c.arity == 1 ? c.call(v) : c.call(v, FieldInfo.new(i, @lineno, headers && headers[i], quoted))
        end
      end
      if @o[:unconverted_fields]
        row.define_singleton_method(:unconverted_fields) { raw }
      end
      row
    end

    def malformed(message, line = @lineno)
      raise MalformedCSVError.new(message, line)
    end

    def read_line
      l = @io.gets(row_sep)
      return nil if l.nil?
      @lineno += 1
      raise InvalidEncodingError.new(l.encoding, @lineno) unless l.valid_encoding?
      l
    end

    # Fields of one row as [text, quoted?] (nil: an empty field), nil at the end.
    def raw_row
      while true
        text = read_line or return nil
        @line = text
        next if @skip && @skip.call(text.chomp(row_sep))
        return parse(text)
      end
    end

    def parse(text)
      sep = row_sep
      ended = text.end_with?(sep)
      body = ended ? text[0...-sep.length] : text
      return [] if body.empty?
      if @quote.nil? || !body.include?(@quote)
        check_stray(body)
        return body.split(@col, -1).map { |f| plain(f) }
      end
      fields = []
      pos = 0
      first_line = @lineno
      while true
        at = pos
        if @strip
          at += 1 while at < body.length && strip_char?(body[at])
        end
        if body[at] == @quote
          value = +""
          i = at + 1
          while true
            j = body.index(@quote, i)
            if j.nil?
              # The field goes on in the next line.
              malformed("Unclosed quoted field", first_line) if !ended && @io.eof?
              value << body[i..] << (ended ? sep : "")
              check_size(value)
              more = read_line
              malformed("Unclosed quoted field", first_line) if more.nil?
              @line += more
              ended = more.end_with?(sep)
              body = ended ? more[0...-sep.length] : more
              i = 0
              next
            end
            value << body[i...j]
            if body[j + 1] == @quote
              value << @quote
              i = j + 2
              next
            end
            i = j + 1
            break
          end
          if @strip
            i += 1 while i < body.length && strip_char?(body[i]) && body[i, @col.length] != @col
          end
          if i == body.length
            check_size(value)
            fields << [value, true]
            return fields
          elsif body[i, @col.length] == @col
            check_size(value)
            fields << [value, true]
            pos = i + @col.length
            if pos == body.length
              fields << nil
              return fields
            end
            next
          elsif @liberal
            stop = body.index(@col, i) || body.length
            whole = body[at...stop]
            whole = value + body[i...stop].gsub(@quote * 2, @quote) if @double_outside
            fields << [whole, false]
            return fields if stop == body.length
            pos = stop + @col.length
            next
          else
            malformed("Any value after quoted field isn't allowed")
          end
        end
        stop = body.index(@col, pos) || body.length
        f = body[pos...stop]
        if f.include?(@quote) && !@liberal
          malformed("Illegal quoting")
        end
        check_stray(f)
        fields << plain(f)
        return fields if stop == body.length
        pos = stop + @col.length
        if pos == body.length
          fields << nil
          return fields
        end
      end
    end

    def plain(f)
      if @strip
        f = @strip == true ? f.strip : f.gsub(/\A#{Regexp.escape(@strip)}+|#{Regexp.escape(@strip)}+\z/, "")
      end
      check_size(f)
      f.empty? ? nil : [f, false]
    end

    def strip_char?(c) = @strip == true ? c.match?(/\s/) : c == @strip

    def check_size(f)
      malformed("Field size exceeded: #{f.size} > #{@limit - 1}") if @limit && f.size >= @limit
    end

    # Line endings of another kind inside a field that is not quoted.
    def check_stray(f)
      return if @liberal
      if (row_sep == "\r\n" && f.match?(/[\r\n]/)) || (row_sep == "\n" && f.include?("\r")) || (row_sep == "\r" && f.include?("\n"))
        malformed("Unquoted fields do not allow new line #{f[/[\r\n]/].inspect}")
      end
    end
  end
end
