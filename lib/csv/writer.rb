# frozen_string_literal: true

class CSV
  # Writes rows with the quotes they need.
  class Writer
    attr_reader :headers, :lineno

    def initialize(io, options, header_converters)
      @io = io
      @o = options
      @col = options[:col_sep].to_s
      @row_sep = options[:row_sep] == :auto ? ($/ || "\n") : options[:row_sep].to_s
      @quote = options[:quote_char]
      @lineno = 0
      @headers = nil
      @header_converters = header_converters
      specials = ["\r", "\n", @col, @quote].compact.uniq.map { |s| Regexp.escape(s) }
      @needs = /#{specials.join("|")}/
      case options[:headers]
      when Array then use_headers(options[:headers])
      when String then use_headers(CSV.parse_line(options[:headers], col_sep: @col, quote_char: @quote || '"'))
      end
      if options[:write_headers] && @headers
        self << @headers
      end
    end

    def <<(row)
      case row
      when Row then row = (headers_of(row); row.fields)
      when Hash
        use_headers(row.keys) if @headers.nil?
        row = @headers.map { |h| row[h] }
      end
      if @o[:headers] && @headers.nil?
        use_headers(row)
      end
      @lineno += 1
      if (cs = @o[:write_converters])
        row = row.map { |f| Array(cs).inject(f) { |v, c| c.call(v) } }
      end
      line = row.each_with_index.map { |f, i| quote(f, i) }.join(@col) + @row_sep
      if @io.is_a?(StringIO) && @io.string.encoding != line.encoding && @io.string.empty? && !line.ascii_only?
        @io.string.force_encoding(line.encoding)
        @io.set_encoding(line.encoding)
      end
      @io << line
      self
    end

    private

    def headers_of(row)
      use_headers(row.headers) if @headers.nil? && @o[:headers]
      true
    end

    def use_headers(list)
      @headers = list.map { |h| @header_converters.inject(h) { |v, c| v.is_a?(String) ? c.call(v) : v } }
    end

    def quote(field, index)
      force = @o[:force_quotes]
      force = force.include?(index) || (@headers && force.include?(@headers[index])) if force.is_a?(Array)
      field = @o[:write_nil_value] if field.nil?
      if field.nil?
        return force ? quoted("") : ""
      end
      field = String(field)
      field = @o[:write_empty_value] if field.empty? && @o[:write_empty_value] != ""
      return field if @quote.nil?
      if force
        quoted(field)
      elsif field.empty?
        @o[:quote_empty] ? quoted(field) : ""
      elsif field.valid_encoding? && field.match?(@needs)
        quoted(field)
      else
        field
      end
    end

    def quoted(s) = @quote + s.gsub(@quote, @quote * 2) + @quote
  end
end
