# frozen_string_literal: true

module Net
  # A response: status, fields, and a body that is read when it is asked for.
  class HTTPResponse
    include HTTPHeader

    # Longest line of a head.
    MOST = 1 << 20
    private_constant :MOST

    class << self
      def body_permitted? = self::HAS_BODY
      def exception_type = self::EXCEPTION_TYPE

      # Reads status and fields.
      def read_new(socket)
        version, code, message = read_status_line(socket)
        res = response_class(code).new(version, code, message)
        each_field(socket) { |k, v| res.add_field(k, v) }
        res
      end

      def response_class(code)
        CODE_TO_OBJ[code] || CODE_CLASS_TO_OBJ[code[0]] || HTTPUnknownResponse
      end

      private

      def read_status_line(socket)
        line = socket.readuntil("\n", limit: MOST).chomp
        m = line.match(/\AHTTP(?:\/(\d+\.\d+))?\s+(\d\d\d)(?:\s+(.*))?\z/mi) or
          raise HTTPBadResponse, "wrong status line: #{line.dump}"
        [m[1] || "1.0", m[2], m[3].to_s]
      end

      def each_field(socket)
        key = value = nil
        while true
          line = socket.readuntil("\n", true, limit: MOST).sub(/\s+\z/, "")
          break if line.empty?
          if line.match?(/\A[ \t]/) && value
            value << " " unless value.empty?
            value << line.strip
          else
            yield key, value if key
            key, value = line.strip.split(/\s*:\s*/, 2)
            raise HTTPBadResponse, "wrong header line format" if value.nil?
            value = +value
          end
        end
        yield key, value if key
      end
    end

    attr_reader :http_version, :code, :message, :uri
    attr_accessor :decode_content, :body_encoding, :ignore_eof
    alias msg message

    def initialize(version, code, message)
      @http_version = version
      @code = code
      @message = message
      initialize_http_header(nil)
      @body = nil
      @read = false
      @ignore_eof = true
    end

    def inspect = "#<#{self.class} #{@code} #{@message} readbody=#{@read}>"

    def uri=(uri)
      @uri = uri&.dup
    end

    def code_type = self.class

    def error!
      text = @code.dup
      text << " " << @message.dump if @message
      raise error_type.new(text, self)
    end

    def error_type = self.class::EXCEPTION_TYPE

    # Raises unless the response is a success.
    def value
      error! unless HTTPSuccess === self
    end

    def response = self
    def header = self
    def read_header = self

    # --- the body ---

    # Yields; what of the body was not read by then is read after it.
    def reading_body(socket, allowed)
      @socket = socket
      @body_exist = allowed && self.class.body_permitted?
      begin
        yield
        body
      ensure
        @socket = nil
      end
    end

    def read_body(dest = nil, &block)
      if @read
        raise IOError, "#{self.class}#read_body called twice" if dest || block
        return @body
      end
      raise ArgumentError, "both arg and block given for HTTP method" if dest && block
      raise IOError, "attempt to read body out of block" if @socket.nil? || @socket.closed?
      dest = block ? ReadAdapter.new(block) : dest || +""
      if @body_exist
        read_into(dest)
        @body = dest
      end
      @read = true
      encoding = @body_encoding == true ? told_encoding : @body_encoding if String === @body
      @body.force_encoding(encoding) if encoding
      @body
    end

    def body = read_body
    alias entity body

    def body=(text)
      @body = text
    end

    private

    # What the response says of its text: in its type, by a mark at the beginning, or in the head of a page.
    def told_encoding
      name = type_params["charset"]
      bytes = @body.byteslice(0, 1024).b
      name ||= "UTF-8" if bytes.start_with?("\xEF\xBB\xBF".b)
      name ||= bytes[/<meta\b[^>]*\bcharset\s*=\s*["']?([\w.:-]+)/in, 1] if content_type&.match?(/html/)
      name && Encoding.find(name)
    rescue ArgumentError
      nil
    end

    def read_into(dest)
      case self["content-encoding"]&.downcase
      when "gzip", "x-gzip", "deflate"
        if @decode_content && HTTP::HAVE_ZLIB && !self["content-range"]
          delete("content-encoding")
          inflated = Inflater.new(dest)
          read_raw(inflated)
          inflated.finish
          return
        end
      end
      read_raw(dest)
    end

    def read_raw(dest)
      if chunked?
        read_chunks(dest)
      elsif (n = content_length || range_length)
        @socket.read(n, dest, @ignore_eof)
      else
        @socket.read_all(dest)
      end
    end

    def read_chunks(dest)
      while true
        line = @socket.readuntil("\n", limit: MOST)
        size = line[/\A[ \t]*(\h+)/, 1] or raise HTTPBadResponse, "wrong chunk size line: #{line.dump}"
        size = size.hex
        break if size == 0
        @socket.read(size, dest)
        @socket.read(2)
      end
      # Fields after the body mean nothing to us.
      nil until @socket.readuntil("\n", true, limit: MOST).strip.empty?
    end

    # Something to append compressed pieces to.
    class Inflater
      def initialize(dest)
        @dest = dest
        @zlib = Zlib::Inflate.new(32 + Zlib::MAX_WBITS)
        @any = false
      end

      def <<(part)
        @any = true
        @dest << @zlib.inflate(part)
        self
      end

      def finish
        return unless @any
        rest = @zlib.finish
        @dest << rest unless rest.empty?
      ensure
        @zlib.close
      end
    end
    private_constant :Inflater
  end
end
