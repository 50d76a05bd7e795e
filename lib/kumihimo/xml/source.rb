# frozen_string_literal: true

module Kumihimo
  module XML
    # What documents are read from, and how.
    module Source
      POLICIES = { adaptive: 0, paper: 1, small: 2, large: 3 }.freeze
      LIMITS = %i[
        depth name attributes tag_bytes markup_bytes doctype_bytes declarations entity_expansion entity_depth namespaces field row nesting
      ].freeze
      # Seconds, and their least.
      TIMES = %i[connect_timeout read_timeout timeout backoff].freeze
      COUNTS = %i[redirects retries max_ratio].freeze
      # Encodings of Strings that were read from somewhere as they are: the document knows better. UTF-16 has a mark of its own.
      UNSAID = [Encoding::UTF_8, Encoding::US_ASCII, Encoding::BINARY, Encoding::UTF_16].freeze
      private_constant :POLICIES, :LIMITS, :TIMES, :COUNTS, :UNSAID

      class << self
        # An open document: [the root tree or native list, the feed].
        def open(source, klass, path, options)
          raise TypeError, "#{klass.inspect} is no class of trees: give a subclass of Kumihimo::XTree" unless klass.is_a?(Class) && klass < XTree
          schema = klass.__schema(path)
          settings = check(options)
          case source
          when String
            return text(source, schema, options) if document?(source)
            return __xopen(schema, 2, source, nil, nil, settings) if source.b.match?(%r{\Ahttps?://}in)
            __xopen(schema, 1, source, nil, nil, settings)
          when IO
            raise IOError, "not opened for reading" unless readable?(source)
            __xopen(schema, 3, source, buffered(source), name_of(source), settings)
          else
            if source.respond_to?(:to_path)
              __xopen(schema, 1, source.to_path, nil, nil, settings)
            elsif source.respond_to?(:readpartial) || source.respond_to?(:read)
              __xopen(schema, 4, Feed.new(source), nil, source.class.name || "a stream", settings)
            elsif source.respond_to?(:to_str)
              open(source.to_str, klass, path, options)
            else
              raise TypeError, "#{source.class} is no source of a document: give a URL, a path, text that begins with '<', or something with read"
            end
          end
        end

        # The elements that a path names: a native list.
        def elements(source, klass, path, options)
          raise TypeError, "a path such as \"/table/row\" is a String, not #{path.inspect}" unless path.is_a?(String)
          open(source, klass, path, options)
        end

        # An open document that is a String: in the encoding that is said, by an option, by the String, or by itself.
        def text(text, schema, options)
          unless options[:encoding] || UNSAID.include?(text.encoding)
            text = utf8(text)
            options = options.merge(encoding: Encoding::UTF_8)
          end
          __xopen(schema, 0, text, nil, nil, check(options))
        end

        # Is the String a document, not the name of one?
        def document?(text)
          bytes = (text.encoding.ascii_compatible? || UNSAID.include?(text.encoding) ? text : utf8(text)).b
          bytes.match?(/\A(?:\xEF\xBB\xBF)?[ \t\r\n]*</n) || bytes.start_with?("\xFE\xFF".b, "\xFF\xFE".b, "<\0".b, "\0<".b)
        end

        # Checked options, as natives take them.
        def check(options)
          options.flat_map do |name, value|
            next [] if value.nil?
            case name
            when :buffer
              next [[:rows, value]] if value.is_a?(Integer) && value.between?(1, 1 << 20)
              [[:policy, POLICIES.fetch(value) { bad(name, value, "one of #{POLICIES.keys.map(&:inspect).join(', ')}, or a number of rows") }]]
            when :headers
              bad(name, value, "a Hash") unless value.is_a?(Hash)
              [[:headers, value.map { |header, text| [header.to_s, text.to_s] }]]
            when :encoding
              [[:encoding, value.to_s]]
            when :lenient, :decompress, :allow_downgrade
              [[name, value ? true : false]]
            when :proxy
              [[:proxy, value == false ? "" : value.to_s]]
            when :limits
              bad(name, value, "a Hash") unless value.is_a?(Hash)
              value.map do |limit, number|
                bad(:limits, limit, "one of #{LIMITS.map(&:inspect).join(', ')}") unless LIMITS.include?(limit)
                bad("limits: #{limit}", number, "a number from 1") unless number.is_a?(Integer) && number.positive?
                [limit, number]
              end
            when *TIMES
              bad(name, value, "seconds") unless (value.is_a?(Integer) || value.is_a?(Float) || value.is_a?(Rational)) && value >= 0 && value < 1e9
              [[name, value.to_f]]
            when *COUNTS
              bad(name, value, "a number") unless value.is_a?(Integer) && value.between?(0, 1 << 30)
              [[name, value]]
            else
              known = %i[buffer headers encoding lenient decompress allow_downgrade proxy limits] + TIMES + COUNTS
              raise ArgumentError, "unknown option #{name}: #{known.join(', ')} are known"
            end
          end
        end

        private

        def utf8(text)
          text.encode(Encoding::UTF_8)
        rescue EncodingError => e
          raise ParseError.new("(string): the String cannot be read as what it says that it is in, #{text.encoding}: #{e.message} " \
                               "(say what it is in, by encoding: or force_encoding)", source: "(string)")
        end

        def bad(name, value, wanted)
          raise ArgumentError, "#{name}: #{value.inspect} is not #{wanted}"
        end

        def readable?(io)
          io.read_nonblock(0)
          true
        rescue IO::WaitReadable, EOFError
          true
        rescue IOError
          raise if io.closed?
          false
        end

        # What the IO has read already and its descriptor will not give again.
        def buffered(io)
          __xio_buffered(io)
        end

        def name_of(io) = io.respond_to?(:path) && io.path ? io.path.to_s : nil
      end

      # Bytes that Ruby code reads, in the task that waits for them.
      class Feed
        SIZE = 64 << 10
        private_constant :SIZE

        def initialize(io)
          @io = io
          @partial = io.respond_to?(:readpartial)
          @lock = Monitor.new
        end

        # Called by natives: an operation that found too little is tried again after each piece.
        def run(op, target, a, b)
          @lock.synchronize do
            fill(target) while __undef?(value = __xtry(op, target, a, b))
            value
          end
        end

        private

        # Who is killed, or interrupted, is so while it waits: what the object has given would else be lost to all others.
        def fill(target)
          Thread.handle_interrupt(Object => :on_blocking) do
            bytes = @partial ? @io.readpartial(SIZE) : @io.read(SIZE)
            raise TypeError, "#{@io.class}##{@partial ? "readpartial" : "read"} gave #{bytes.class}, not a String" unless bytes.nil? || bytes.is_a?(String)
            __xfeed(target, bytes.nil? || bytes.empty? ? nil : bytes)
          end
        rescue EOFError
          __xfeed(target, nil)
        end
      end
    end
  end
end
