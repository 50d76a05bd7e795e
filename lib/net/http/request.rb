# frozen_string_literal: true

module Net
  # A request: method, path or URI, fields, body.
  class HTTPGenericRequest
    include HTTPHeader

    attr_reader :method, :path, :uri, :body, :body_stream, :decode_content

    def initialize(method, request_body, response_body, uri_or_path, initheader = nil)
      @method = method
      @request_has_body = request_body
      @response_has_body = response_body
      if URI === uri_or_path
        raise ArgumentError, "not an HTTP URI" unless URI::HTTP === uri_or_path
        raise ArgumentError, "no host component for URI" if uri_or_path.hostname.to_s.empty?
        @uri = uri_or_path.dup
        @path = uri_or_path.request_uri
        raise ArgumentError, "no HTTP request path given" unless @path
      else
        raise ArgumentError, "no HTTP request path given" unless uri_or_path
        raise ArgumentError, "HTTP request path is empty" if uri_or_path.empty?
        @path = uri_or_path.dup
      end
      @decode_content = false
      initialize_http_header(initheader)
      if @response_has_body && HTTP::HAVE_ZLIB && !key?("accept-encoding") && !key?("range")
        @decode_content = true
        self["Accept-Encoding"] = "gzip;q=1.0,deflate;q=0.6,identity;q=0.3"
      end
      self["Accept"] ||= "*/*"
      self["User-Agent"] ||= "Ruby"
      self["Host"] ||= host_of(@uri) if @uri
    end

    def inspect = "#<#{self.class} #{@method}>"

    # A field that says what is understood means that the caller decodes.
    def []=(key, value)
      @decode_content = false if key.to_s.casecmp?("accept-encoding") && !@decode_content.nil? && @header.key?("accept-encoding")
      super
    end

    def request_body_permitted? = @request_has_body
    def response_body_permitted? = @response_has_body

    def body_exist?
      warn "Net::HTTPRequest#body_exist? is obsolete; use response_body_permitted?", uplevel: 0 if $VERBOSE
      response_body_permitted?
    end

    def body=(text)
      @body = text
      @body_stream = nil
      @body_data = nil
    end

    def body_stream=(stream)
      @body = nil
      @body_stream = stream
      @body_data = nil
    end

    # --- for HTTP ---

    def set_body_internal(text)
      raise ArgumentError, "both of body argument and HTTPRequest#body set" if text && (@body || @body_stream)
      self.body = text if text
      self.body = "" if @body.nil? && @body_stream.nil? && @body_data.nil? && request_body_permitted?
    end

    def update_uri(address, port, ssl)
      return unless @uri
      @uri.scheme = ssl ? "https" : "http" if @uri.scheme != (ssl ? "https" : "http")
      @uri.host ||= address
      @uri.port ||= port
    end

    # Sends it.
    def exec(socket, version, path)
      if @body
        self.content_length = @body.bytesize
        delete("Transfer-Encoding")
        write_header(socket, version, path)
        wait_for_continue(socket, version)
        socket.write(@body)
      elsif @body_stream
        send_stream(socket, version, path, @body_stream)
      elsif @body_data
        send_form(socket, version, path)
      else
        write_header(socket, version, path)
      end
    end

    private

    def host_of(uri)
      host = uri.host
      uri.port == uri.default_port ? host : "#{host}:#{uri.port}"
    end

    def write_header(socket, version, path)
      line = "#{@method} #{path} HTTP/#{version}"
      raise ArgumentError, "A Request-Line must not contain CR or LF" if line.match?(/[\r\n]/)
      out = line + "\r\n"
      each_capitalized { |k, v| out << "#{k}: #{v}\r\n" }
      socket.write(out << "\r\n")
    end

    def send_stream(socket, version, path, stream)
      unless content_length || chunked?
        raise ArgumentError, "Content-Length not given and Transfer-Encoding is not 'chunked'"
      end
      write_header(socket, version, path)
      wait_for_continue(socket, version)
      while (part = stream.read(16 * 1024))
        chunked? ? socket.write("#{part.bytesize.to_s(16)}\r\n", part, "\r\n") : socket.write(part)
      end
      socket.write("0\r\n\r\n") if chunked?
    end

    def send_form(socket, version, path)
      if content_type&.casecmp?("multipart/form-data")
        boundary = @form_option[:boundary] || random_boundary
        set_content_type("multipart/form-data", "boundary" => boundary)
        @body = multipart(boundary)
      else
        @body = URI.encode_www_form(@body_data)
      end
      data = @body_data
      exec(socket, version, path)
    ensure
      @body = nil
      @body_data = data if data
    end

    def random_boundary
      require "securerandom"
      "---------------------------#{SecureRandom.hex(16)}"
    end

    def multipart(boundary)
      out = "".b
      @body_data.each do |name, value, options = {}|
        out << "--#{boundary}\r\n"
        file = options[:filename] || (File.basename(value.path) if value.respond_to?(:path) && value.path)
        out << "Content-Disposition: form-data; name=\"#{quoted(name)}\""
        out << "; filename=\"#{quoted(file)}\"" if file
        out << "\r\n"
        type = options[:content_type] || ("application/octet-stream" if file)
        out << "Content-Type: #{type}\r\n" if type
        out << "\r\n" << (value.respond_to?(:read) ? value.read : value.to_s).b << "\r\n"
      end
      out << "--#{boundary}--\r\n"
    end

    def quoted(text) = text.to_s.gsub(/["\r\n]/, '"' => "%22", "\r" => "%0D", "\n" => "%0A")

    # The server may say what it thinks of the request before the body is sent.
    def wait_for_continue(socket, version)
      return unless version >= "1.1" && self["expect"] && socket.continue_timeout
      return unless socket.io.to_io.wait_readable(socket.continue_timeout)
      res = HTTPResponse.read_new(socket)
      throw :response, res unless HTTPContinue === res
    end
  end

  # A request whose class says what it is.
  class HTTPRequest < HTTPGenericRequest
    def initialize(path, initheader = nil)
      super(self.class::METHOD, self.class::REQUEST_HAS_BODY, self.class::RESPONSE_HAS_BODY, path, initheader)
    end
  end

  class HTTP
    # Name, has the request a body, has the response one.
    [
      ["Get", false, true], ["Head", false, false], ["Post", true, true], ["Put", true, true], ["Delete", false, true],
      ["Options", false, true], ["Trace", false, true], ["Patch", true, true], ["Propfind", true, true],
      ["Proppatch", true, true], ["Mkcol", true, true], ["Copy", false, true], ["Move", false, true], ["Lock", true, true],
      ["Unlock", true, true]
    ].each do |name, request_body, response_body|
      c = const_set(name, Class.new(HTTPRequest))
      c.const_set(:METHOD, name.upcase.freeze)
      c.const_set(:REQUEST_HAS_BODY, request_body)
      c.const_set(:RESPONSE_HAS_BODY, response_body)
    end
  end
end
