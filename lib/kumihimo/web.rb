# frozen_string_literal: true

require "cgi"
require "securerandom"
require "socket"
require "uri"

module Kumihimo
  # A small HTTP/1.1 server for a program's own pages: what it does, how it stands. The block answers a Request by
  # [status, type, body], or by a Stream. It is called on a thread for each connection, of which there are a few at a time.
  #
  # A hostile client has ten seconds, 16 KB of head and 64 KB of body. A page that listens on loopback only answers to the names of
  # loopback, so that no other site's page reads it by a name of its own.
  #
  # token: who has it sees the page: by `?token=` once, which leaves a cookie, or as `Authorization: Bearer`.
  class Web
    Request = Data.define(:method, :path, :query, :form, :headers) do
      def get? = method == "GET" || method == "HEAD"
      def post? = method == "POST"
    end

    # Lines for as long as the client listens: the block yields them.
    class Stream
      def initialize(&lines) = @lines = lines
      def each(&) = @lines.call(&)
    end

    HEAD = 16 << 10
    BODY = 64 << 10
    CONNECTIONS = 64
    STREAMS = 16
    SECONDS = 10
    STATUS = { 200 => "OK", 303 => "See Other", 400 => "Bad Request", 401 => "Unauthorized", 403 => "Forbidden", 404 => "Not Found",
               405 => "Method Not Allowed", 413 => "Content Too Large", 421 => "Misdirected Request", 431 => "Request Header Fields Too Large",
               500 => "Internal Server Error", 503 => "Service Unavailable" }.freeze
    # `[::1]`, and what lies in 127.0.0.0/8; a name may begin like that.
    LOOPBACK = /\A(localhost|::1|127(\.\d{1,3}){3})\z/
    private_constant :HEAD, :BODY, :CONNECTIONS, :STREAMS, :SECONDS, :STATUS, :LOOPBACK

    # What answers a request with a status.
    class Refused < StandardError
      attr_reader :status

      def initialize(status, why = STATUS[status])
        super(why)
        @status = status
      end
    end

    # Raises ArgumentError for what is no address, SystemCallError where nobody can listen there. open: paths that need no token.
    def initialize(address, token: nil, open: [], &answer)
      host, _, port = address.to_s.rpartition(":")
      raise ArgumentError, "an address is HOST:PORT, not #{address.inspect}" unless port.match?(/\A\d{1,5}\z/)
      @server = TCPServer.new(host.delete("[]"), port.to_i)
      @loopback = @server.local_address.ipv4_loopback? || @server.local_address.ipv6_loopback?
      @token = token
      @open = open
      @answer = answer
      # Browsers send a cookie to all ports of a host.
      @cookie = "kumi#{@server.local_address.ip_port}"
      @slots = Thread::SizedQueue.new(CONNECTIONS)
      # Those whose request is not there yet, the oldest first.
      @reading = {}.compare_by_identity
      @streams = 0
      @lock = Mutex.new
    end

    # Only this machine reaches it?
    def loopback? = @loopback

    # "http://127.0.0.1:8080/"
    def url
      address = @server.local_address
      "http://#{address.ipv6? ? "[#{address.ip_address}]" : address.ip_address}:#{address.ip_port}/"
    end

    # Serves on a thread.
    def start
      @thread ||= Thread.new { loop { accept } }.tap { |thread| thread.name = "web" }
      self
    end

    def stop
      @thread&.kill
      @server.close unless @server.closed?
      self
    end

    private

    def accept
      socket = @server.accept
      give_up_oldest if @slots.size >= CONNECTIONS
      @slots << true
      @lock.synchronize { @reading[socket] = true }
      Thread.new { serve(socket) }
    rescue SystemCallError
      # One that went before it was served, or too many open files.
      sleep 0.1
    end

    # Who says nothing has its place for as long as nobody else needs it.
    def give_up_oldest
      oldest = @lock.synchronize { @reading.keys.first.tap { |socket| @reading.delete(socket) } }
      quietly { oldest&.close }
    end

    def serve(socket)
      request, keep = read(socket)
      @lock.synchronize { @reading.delete(socket) }
      answer(socket, request, keep) if request
    rescue Refused => refused
      quietly { write(socket, refused.status, "text/plain", refused.message) }
    rescue IOError, SystemCallError
      # It has gone, or takes its time.
    rescue StandardError => error
      $stderr.puts "web: #{error.full_message(highlight: false)}"
      quietly { write(socket, 500, "text/plain", "#{error.class}") }
    ensure
      @lock.synchronize { @reading.delete(socket) }
      quietly { socket.close }
      @slots.pop
    end

    def quietly
      yield
    rescue IOError, SystemCallError
      nil
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # As much as is there, before the time is over.
    def more(socket, until_when)
      left = until_when - now
      raise Refused.new(400, "too slow") unless left > 0 && socket.wait_readable(left)
      socket.read_nonblock(16_384, exception: false).then { |bytes| bytes == :wait_readable ? "" : bytes }
    end

    def read(socket)
      until_when = now + SECONDS
      data = String.new(encoding: Encoding::BINARY)
      until (at = data.index("\r\n\r\n"))
        raise Refused, 431 if data.bytesize > HEAD
        bytes = more(socket, until_when) or return
        data << bytes
      end
      head, body = data.byteslice(0, at), data.byteslice(at + 4..)
      line, *fields = head.split("\r\n")
      method, target, version = line.to_s.split(" ")
      raise Refused, 400 unless version&.start_with?("HTTP/1.") && target.start_with?("/")
      headers = fields.to_h do |field|
        name, value = field.split(":", 2)
        raise Refused, 400 unless value
        [name.downcase, value.strip]
      end
      length = headers["content-length"] || "0"
      raise Refused, 400 if headers["transfer-encoding"] || !length.match?(/\A\d{1,9}\z/)
      raise Refused, 413 if length.to_i > BODY
      while body.bytesize < length.to_i
        bytes = more(socket, until_when) or return
        body << bytes
      end
      path, query = target.split("?", 2)
      [Request.new(method:, path:, query: form(query), form: method == "POST" ? form(body) : {}, headers:), method != "HEAD"]
    end

    def form(text)
      URI.decode_www_form(text.to_s.dup.force_encoding(Encoding::UTF_8)).to_h
    rescue ArgumentError
      raise Refused, 400
    end

    def answer(socket, request, with_body)
      host = request.headers["host"].to_s.sub(/:\d+\z/, "").delete("[]").downcase
      raise Refused.new(421, "this page is called localhost") if @loopback && !host.match?(LOOPBACK)
      unless @open.include?(request.path)
        return if login(socket, request)
      end
      status, type, body = @answer.call(request)
      return stream(socket, status) if status.is_a?(Stream)
      write(socket, status, type, body, with_body)
    end

    # true: it was answered.
    def login(socket, request)
      return false unless @token
      if (given = request.query["token"])
        raise Refused.new(401, "wrong token") unless same?(given)
        cookie = "Set-Cookie: #{@cookie}=#{@token}; HttpOnly; SameSite=Strict; Path=/\r\n"
        write(socket, 303, "text/plain", "", true, "#{cookie}Location: #{request.path}\r\n")
        return true
      end
      given = [request.headers["authorization"].to_s[/\ABearer (\S+)\z/, 1], request.headers["cookie"].to_s[/(?:\A|; *)#{@cookie}=([\w-]+)/, 1]]
      raise Refused.new(401, "this page is for who has its token: the address with ?token= was printed when it began") unless given.any? { |g| g && same?(g) }
      # A form of another site has the cookie nowhere: it is sent by pages of this one alone. An older browser sends it everywhere, and all of
      # them to pages of other ports.
      origin = request.headers["origin"]
      raise Refused.new(403, "this form is another site's") if request.post? && origin && origin.downcase.sub(/\A[a-z]+:\/\//, "") != request.headers["host"].to_s.downcase
      false
    end

    # In the same time for any token.
    def same?(given)
      return false unless given.bytesize == @token.bytesize
      given.bytes.zip(@token.bytes).sum { |a, b| a ^ b } == 0
    end

    POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; form-action 'self'; " \
             "frame-ancestors 'none'; base-uri 'none'"
    private_constant :POLICY

    def write(socket, status, type, body, with_body = true, more = nil)
      socket.timeout = SECONDS
      socket.write("HTTP/1.1 #{status} #{STATUS[status]}\r\nContent-Type: #{type}; charset=utf-8\r\nContent-Length: #{body.bytesize}\r\n" \
                   "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n" \
                   "Content-Security-Policy: #{POLICY}\r\nConnection: close\r\n#{more}\r\n#{body if with_body}")
    end

    def stream(socket, lines)
      raise Refused.new(503, "too many look on") unless @lock.synchronize { @streams < STREAMS && @streams += 1 }
      begin
        socket.timeout = SECONDS
        socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n")
        lines.each { |line| socket.write(line) }
      ensure
        @lock.synchronize { @streams -= 1 }
      end
    end
  end
end
