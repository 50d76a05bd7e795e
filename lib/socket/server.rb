# frozen_string_literal: true

# Servers in a few lines: listening sockets for every address of a name, and loops around them.
class Socket
  class << self
    def tcp_server_sockets(host = nil, port)
      sockets = port == 0 || port == "0" ? __same_port(host) : __listening(host, port)
      return sockets unless block_given?
      begin
        yield sockets
      ensure
        sockets.each(&:close)
      end
    end

    def tcp_server_loop(host = nil, port, &block)
      tcp_server_sockets(host, port) { |sockets| accept_loop(sockets, &block) }
    end

    def unix_server_socket(path)
      __remove_stale(path)
      s = Addrinfo.unix(path).listen
      return s unless block_given?
      begin
        yield s
      ensure
        s.close unless s.closed?
        File.unlink(path) if File.socket?(path)
      end
    end

    def unix_server_loop(path, &block)
      unix_server_socket(path) { |s| accept_loop(s, &block) }
    end

    # Yields a socket and the client's Addrinfo for every connection to one of the sockets.
    def accept_loop(*sockets)
      sockets.flatten!(1)
      raise ArgumentError, "no sockets" if sockets.empty?
      while true
        readable, = IO.select(sockets)
        readable.each do |s|
          client = s.accept_nonblock(exception: false)
          yield(*client) unless client == :wait_readable
        end
      end
    end

    def udp_server_sockets(host = nil, port)
      sockets = []
      begin
        Addrinfo.foreach(host, port, nil, :DGRAM, nil, AI_PASSIVE) do |a|
          begin
            s = Socket.new(a.pfamily, a.socktype, a.protocol)
            sockets << s
            s.ipv6only! if a.ipv6?
            # Of which address a packet was sent to, only the packet tells.
            a.ipv6? ? s.setsockopt(:IPV6, :RECVPKTINFO, 1) : s.setsockopt(:IP, :PKTINFO, 1)
            # Port 0 means one port for all.
            chosen = sockets[0].local_address.ip_port if sockets.size > 1 && a.ip_port == 0
            s.bind(chosen ? Addrinfo.__make(__inet(__packed(a.to_sockaddr), chosen), a.pfamily, a.socktype, a.protocol) : a)
          rescue Errno::EADDRNOTAVAIL, Errno::EAFNOSUPPORT
            sockets.delete(s)&.close
          end
        end
        raise SocketError, "no address to listen on" if sockets.empty?
      rescue Exception
        sockets.each(&:close)
        raise
      end
      return sockets unless block_given?
      begin
        yield sockets
      ensure
        sockets.each(&:close)
      end
    end

    # Yields message and UDPSource of whatever waits on the sockets.
    def udp_server_recv(sockets)
      sockets.each do |s|
        r = s.recvmsg_nonblock(exception: false)
        next if r == :wait_readable || r.nil?
        message, from, _, *controls = r
        info = controls.find { |c| c.cmsg_is?(:IP, :PKTINFO) || c.cmsg_is?(:IPV6, :PKTINFO) } if s.local_address.ip?
        local = s.local_address
        if info
          ip = info.family == AF_INET6 ? info.ipv6_pktinfo_addr : info.ip_pktinfo[0]
          local = Addrinfo.__make(__inet(__packed(ip.to_sockaddr), local.ip_port), local.pfamily, local.socktype, local.protocol)
        end
        yield message, UDPSource.new(from, local) { |answer| s.send(answer, 0, from) }
      end
    end

    def udp_server_loop_on(sockets, &block)
      while true
        readable, = IO.select(sockets)
        udp_server_recv(readable, &block)
      end
    end

    def udp_server_loop(host = nil, port, &block)
      udp_server_sockets(host, port) { |sockets| udp_server_loop_on(sockets, &block) }
    end

    private

    def __listening(host, port)
      sockets = []
      error = nil
      Addrinfo.foreach(host, port, nil, :STREAM, nil, AI_PASSIVE) do |a|
        sockets << a.listen
      rescue Errno::EADDRNOTAVAIL, Errno::EAFNOSUPPORT => e
        error = e
      end
      raise error if sockets.empty? && error
      sockets
    rescue Exception
      sockets&.each(&:close)
      raise
    end

    # Port 0 means one free port for all addresses: what the first got may be taken at the next.
    def __same_port(host)
      tries = 0
      begin
        sockets = []
        port = 0
        Addrinfo.foreach(host, 0, nil, :STREAM, nil, AI_PASSIVE) do |a|
          here = Addrinfo.__make(__inet(__packed(a.to_sockaddr), port), a.pfamily, a.socktype, a.protocol)
          begin
            sockets << here.listen
          rescue Errno::EADDRNOTAVAIL, Errno::EAFNOSUPPORT
            next
          end
          port = sockets[0].local_address.ip_port
        end
        sockets
      rescue Errno::EADDRINUSE
        sockets.each(&:close)
        retry if (tries += 1) < 10
        raise
      end
    end

    # A socket file nobody listens on any more stands in the way.
    def __remove_stale(path)
      return unless File.socket?(path)
      Addrinfo.unix(path).connect { return }
    rescue Errno::ECONNREFUSED
      File.unlink(path)
    rescue SystemCallError
      nil
    end
  end

  # Where a datagram came from, to answer it.
  class UDPSource
    attr_reader :remote_address, :local_address

    def initialize(remote_address, local_address, &reply)
      @remote_address = remote_address
      @local_address = local_address
      @reply = reply
    end

    def reply(message) = @reply.call(message)

    def inspect
      "#<#{self.class}: #{@remote_address.inspect_sockaddr} to #{@local_address.inspect_sockaddr}>"
    end
  end
end
