# frozen_string_literal: true

require "net/protocol"
require "uri"

# The HTTP client.
#
# - net/http/header: fields of requests and responses; net/http/request, net/http/response: the two
# - net/http/status: the classes of responses, by code
module Net
  class HTTPBadResponse < StandardError
  end

  class HTTPHeaderSyntaxError < StandardError
  end

  # One connection to one server, for any number of requests.
  class HTTP < Protocol
    VERSION = "0.9.1"
    HTTPVersion = "1.1"
    # Requests that may be sent again when the connection breaks.
    IDEMPOTENT = %w[GET HEAD PUT DELETE OPTIONS TRACE].freeze
    private_constant :IDEMPOTENT

    HAVE_ZLIB = begin
      require "zlib"
      true
    rescue LoadError
      false
    end

    @is_proxy_class = false

    class << self
      attr_reader :proxy_address, :proxy_user, :proxy_pass, :proxy_use_ssl

      def default_port = http_default_port
      def http_default_port = 80
      def https_default_port = 443
      def socket_type = BufferedIO

      def version_1_2 = true
      def version_1_2? = true
      alias is_version_1_2? version_1_2?
      def version_1_1? = false
      alias is_version_1_1? version_1_1?

      alias newobj new

      def new(address, port = nil, p_addr = :ENV, p_port = nil, p_user = nil, p_pass = nil, p_no_proxy = nil, p_use_ssl = nil)
        http = newobj(address, port)
        if proxy_class?
          http.proxy_from_env = false
          http.proxy_address = proxy_address
          http.proxy_port = proxy_port
          http.proxy_user = proxy_user
          http.proxy_pass = proxy_pass
        elsif p_addr == :ENV
          http.proxy_from_env = true
        else
          excluded = p_addr && p_no_proxy && !URI::Generic.use_proxy?(address, address, port, p_no_proxy)
          http.proxy_from_env = false
          unless excluded
            http.proxy_address = p_addr
            http.proxy_port = p_port || default_port
            http.proxy_user = p_user
            http.proxy_pass = p_pass
          end
        end
        http
      end

      # A connection, started; with a block it is finished after it.
      def start(address, *rest, &block)
        options = Hash === rest[-1] ? rest.pop : {}
        port, p_addr, p_port, p_user, p_pass = rest
        p_addr = :ENV if rest.size < 2
        port ||= https_default_port if options[:use_ssl]
        http = new(address, port, p_addr, p_port, p_user, p_pass)
        http.ipaddr = options[:ipaddr] if options[:ipaddr]
        options.each { |k, v| http.__send__(:"#{k}=", v) if http.respond_to?(:"#{k}=") && k != :ipaddr }
        http.start(&block)
      end

      def get(uri_or_host, path_or_headers = nil, port = nil) = get_response(uri_or_host, path_or_headers, port).body

      def get_print(uri_or_host, path_or_headers = nil, port = nil)
        get_response(uri_or_host, path_or_headers, port) { |r| r.read_body { |part| $stdout.print(part) } }
        nil
      end

      def get_response(uri_or_host, path_or_headers = nil, port = nil, &block)
        if path_or_headers && !(Hash === path_or_headers)
          return new(uri_or_host, port || default_port).start { |http| http.request_get(path_or_headers, &block) }
        end
        uri = uri_or_host
        start(uri.hostname, uri.port, use_ssl: uri.scheme == "https") { |http| http.request_get(uri, path_or_headers, &block) }
      end

      def post(uri, data, header = nil)
        start(uri.hostname, uri.port, use_ssl: uri.scheme == "https") { |http| http.post(uri, data, header) }
      end

      def put(uri, data, header = nil)
        start(uri.hostname, uri.port, use_ssl: uri.scheme == "https") { |http| http.put(uri, data, header) }
      end

      def post_form(uri, params)
        request = Post.new(uri)
        request.form_data = params
        request.basic_auth(uri.user, uri.password) if uri.user
        start(uri.hostname, uri.port, use_ssl: uri.scheme == "https") { |http| http.request(request) }
      end

      # A class whose connections go through a proxy.
      def Proxy(p_addr = :ENV, p_port = nil, p_user = nil, p_pass = nil, p_use_ssl = nil)
        return self unless p_addr
        Class.new(self) do
          @is_proxy_class = true
          @proxy_address = p_addr == :ENV ? nil : p_addr
          @proxy_port = p_port
          @proxy_user = p_user
          @proxy_pass = p_pass
          @proxy_use_ssl = p_use_ssl
        end
      end

      def proxy_class? = @is_proxy_class || false
      def proxy_port = proxy_class? ? @proxy_port || default_port : nil
    end

    attr_reader :address, :port, :read_timeout, :write_timeout, :continue_timeout, :max_retries, :response_body_encoding
    attr_accessor :open_timeout, :keep_alive_timeout, :close_on_empty_response, :local_host, :local_port, :ignore_eof
    attr_writer :proxy_from_env, :proxy_address, :proxy_port, :proxy_user, :proxy_pass, :proxy_use_ssl
    attr_accessor :ca_file, :ca_path, :cert, :cert_store, :ciphers, :extra_chain_cert, :key, :ssl_timeout, :ssl_version,
                  :min_version, :max_version, :verify_callback, :verify_depth, :verify_mode, :verify_hostname

    def initialize(address, port = nil)
      @address = address
      @port = port || self.class.default_port
      @open_timeout = 60
      @read_timeout = 60
      @write_timeout = 60
      @continue_timeout = nil
      @keep_alive_timeout = 2
      @max_retries = 1
      @ignore_eof = true
      @started = false
      @proxy_from_env = false
      @use_ssl = false
      @version = HTTPVersion
    end
    private :initialize

    def inspect = "#<#{self.class} #{@address}:#{@port} open=#{started?}>"

    def started? = @started
    alias active? started?

    def read_timeout=(seconds)
      @socket.read_timeout = seconds if @socket
      @read_timeout = seconds
    end

    def write_timeout=(seconds)
      @socket.write_timeout = seconds if @socket
      @write_timeout = seconds
    end

    def continue_timeout=(seconds)
      @socket.continue_timeout = seconds if @socket
      @continue_timeout = seconds
    end

    def max_retries=(n)
      n = n.to_int
      raise ArgumentError, "max_retries should be non-negative integer number" if n < 0
      @max_retries = n
    end

    def response_body_encoding=(encoding)
      encoding = Encoding.find(encoding) if String === encoding
      @response_body_encoding = encoding
    end

    def set_debug_output(output)
      warn "Net::HTTP#set_debug_output called after HTTP started", uplevel: 0 if started?
      @debug_output = output
    end

    def ipaddr = started? ? @socket.io.peeraddr[3] : @ipaddr

    def ipaddr=(address)
      raise IOError, "ipaddr value changed, but session already started" if started?
      @ipaddr = address
    end

    def use_ssl? = @use_ssl

    def use_ssl=(on)
      on = on ? true : false
      raise IOError, "use_ssl value changed, but session already started" if started? && @use_ssl != on
      @use_ssl = on
    end

    def peer_cert = nil

    # --- the connection ---

    def start
      raise IOError, "HTTP session already opened" if @started
      if block_given?
        begin
          connect
          @started = true
          return yield(self)
        ensure
          disconnect
        end
      end
      connect
      @started = true
      self
    end

    def finish
      raise IOError, "HTTP session not yet started" unless started?
      disconnect
    end

    # --- proxies ---

    def proxy? = !!(@proxy_from_env ? proxy_uri : @proxy_address)
    def proxy_from_env? = @proxy_from_env
    def proxy_address = @proxy_from_env ? proxy_uri&.hostname : @proxy_address
    def proxy_port = @proxy_from_env ? proxy_uri&.port : @proxy_port
    def proxy_user = @proxy_from_env ? proxy_uri&.user&.then { URI.decode_uri_component(_1) } : @proxy_user
    def proxy_pass = @proxy_from_env ? proxy_uri&.password&.then { URI.decode_uri_component(_1) } : @proxy_pass
    alias proxyaddr proxy_address
    alias proxyport proxy_port

    def proxy_uri
      return @proxy_uri if defined?(@proxy_uri)
      @proxy_uri = URI::HTTP.build(host: @address.include?(":") ? "[#{@address}]" : @address, port: @port).find_proxy
    end

    # --- requests ---

    def get(path, initheader = nil, dest = nil)
      res = nil
      request(Get.new(path, initheader)) do |r|
        block_given? ? r.read_body(dest) { |part| yield part } : r.read_body(dest)
        res = r
      end
      res
    end

    def head(path, initheader = nil) = request(Head.new(path, initheader))

    def post(path, data, initheader = nil, dest = nil, &block) = send_entity(path, data, initheader, dest, Post, &block)
    def patch(path, data, initheader = nil, dest = nil, &block) = send_entity(path, data, initheader, dest, Patch, &block)
    def put(path, data, initheader = nil) = request(Put.new(path, initheader), data)
    def proppatch(path, body, initheader = nil) = request(Proppatch.new(path, initheader), body)
    def lock(path, body, initheader = nil) = request(Lock.new(path, initheader), body)
    def unlock(path, body, initheader = nil) = request(Unlock.new(path, initheader), body)
    def options(path, initheader = nil) = request(Options.new(path, initheader))
    def propfind(path, body = nil, initheader = { "Depth" => "0" }) = request(Propfind.new(path, initheader), body)
    def delete(path, initheader = { "Depth" => "Infinity" }) = request(Delete.new(path, initheader))
    def move(path, initheader = nil) = request(Move.new(path, initheader))
    def copy(path, initheader = nil) = request(Copy.new(path, initheader))
    def mkcol(path, body = nil, initheader = nil) = request(Mkcol.new(path, initheader), body)
    def trace(path, initheader = nil) = request(Trace.new(path, initheader))

    def request_get(path, initheader = nil, &block) = request(Get.new(path, initheader), &block)
    def request_head(path, initheader = nil, &block) = request(Head.new(path, initheader), &block)
    def request_post(path, data, initheader = nil, &block) = request(Post.new(path, initheader), data, &block)
    def request_put(path, data, initheader = nil, &block) = request(Put.new(path, initheader), data, &block)
    alias get2 request_get
    alias head2 request_head
    alias post2 request_post
    alias put2 request_put

    def send_request(name, path, data = nil, header = nil)
      request(HTTPGenericRequest.new(name, data ? true : false, name != "HEAD", path, header), data)
    end

    # Sends a request; yields the response before its body is read.
    def request(req, body = nil, &block)
      unless started?
        start do
          req["connection"] ||= "close"
          return request(req, body, &block)
        end
      end
      if proxy_user && !use_ssl?
        req.proxy_basic_auth(proxy_user, proxy_pass)
      end
      req.set_body_internal(body)
      transport(req, &block)
    end

    private

    def send_entity(path, data, initheader, dest, type)
      return request(type.new(path, initheader), data) unless dest || block_given?
      res = nil
      request(type.new(path, initheader), data) do |r|
        block_given? ? r.read_body(dest) { |part| yield part } : r.read_body(dest)
        res = r
      end
      res
    end

    def connect
      raise LoadError, "https needs OpenSSL, which is not there" if use_ssl?
      host = proxy? ? proxy_address : @ipaddr || @address
      port = proxy? ? proxy_port : @port
      @debug_output << "opening connection to #{host}:#{port}...\n" if @debug_output
      begin
        s = TCPSocket.open(host, port, @local_host, @local_port, open_timeout: @open_timeout)
      rescue IO::TimeoutError, Timeout::Error
        raise OpenTimeout, "Failed to open TCP connection to #{host}:#{port} (execution expired)"
      rescue SystemCallError, SocketError => e
        raise e, "Failed to open TCP connection to #{host}:#{port} (#{e.message})"
      end
      s.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
      @socket = BufferedIO.new(s, read_timeout: @read_timeout, write_timeout: @write_timeout,
                                  continue_timeout: @continue_timeout, debug_output: @debug_output)
      @debug_output << "opened\n" if @debug_output
      @last_communicated = nil
    end

    def disconnect
      @started = false
      @socket.close if @socket && !@socket.closed?
      @socket = nil
    end

    # One request and its response; once more over a new connection when the old one broke.
    def transport(req)
      tries = 0
      yielded = false
      begin
        begin_transport(req)
        res = catch(:response) do
          req.exec(@socket, @version, edit_path(req.path))
          begin
            r = HTTPResponse.read_new(@socket)
          end while HTTPInformation === r && !(HTTPSwitchProtocol === r)
          r
        end
        res.decode_content = req.decode_content
        res.body_encoding = @response_body_encoding
        res.ignore_eof = @ignore_eof
        res.uri = req.uri
        res.reading_body(@socket, req.response_body_permitted?) do
          yielded = block_given?
          yield res if yielded
        end
      rescue OpenTimeout
        raise
      rescue ReadTimeout, IOError, EOFError, Errno::ECONNRESET, Errno::ECONNABORTED, Errno::EPIPE, Errno::ETIMEDOUT => e
        @socket&.close
        if tries < @max_retries && !yielded && IDEMPOTENT.include?(req.method)
          tries += 1
          retry
        end
        raise
      rescue Exception
        @socket&.close
        raise
      end
      end_transport(req, res)
      res
    end

    def begin_transport(req)
      if @socket.closed?
        connect
      elsif @last_communicated
        idle = Process.clock_gettime(Process::CLOCK_MONOTONIC) - @last_communicated
        # A server that has closed meanwhile is readable, and at its end.
        if idle > @keep_alive_timeout || @socket.io.to_io.wait_readable(0) && @socket.eof?
          @socket.close
          connect
        end
      end
      req["connection"] ||= "close" if !req.response_body_permitted? && @close_on_empty_response
      req.update_uri(@address, @port, use_ssl?)
      req["host"] ||= addr_port
    end

    def end_transport(req, res)
      @version = res.http_version
      @last_communicated = nil
      if @socket.closed?
        # It ended with the response.
      elsif keep_alive?(req, res)
        @last_communicated = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      else
        @socket.close
      end
    end

    def keep_alive?(req, res)
      return false if req.connection_close?
      @version <= "1.0" ? res.connection_keep_alive? : !res.connection_close?
    end

    def edit_path(path)
      return path unless proxy?
      path.start_with?("http://") ? path : "http://#{addr_port}#{path}"
    end

    def addr_port
      host = @address.include?(":") ? "[#{@address}]" : @address
      @port == (use_ssl? ? HTTP.https_default_port : HTTP.http_default_port) ? host : "#{host}:#{@port}"
    end
  end

  HTTPSession = HTTP
end

require "net/http/header"
require "net/http/request"
require "net/http/status"
require "net/http/response"
