# frozen_string_literal: true

# Sockets of the Internet.
class IPSocket < BasicSocket
  undef_method :getpeereid

  def self.getaddress(host)
    __sockaddr_parts(Socket.__resolve(host, nil, nil, Socket::SOCK_STREAM)[0][3])[1]
  end

  def addr(reverse_lookup = nil) = Socket.__ip_array(getsockname, Socket.__numeric?(reverse_lookup, @__numeric))
  def peeraddr(reverse_lookup = nil) = Socket.__ip_array(getpeername, Socket.__numeric?(reverse_lookup, @__numeric))

  def recvfrom(length, flags = 0)
    r = __receive(length, flags, nil, false)
    r && [r[0], r[1] && Socket.__ip_array(r[1], @__numeric)]
  end

  def inspect
    return super if closed?
    family, ip, port = __sockaddr_parts(getsockname)
    return super unless ip
    "#<#{self.class}:fd #{fileno}, #{Socket::Constants.__name("AF_", family)}, #{ip}, #{port}>"
  rescue SystemCallError, IOError
    super
  end

  private

  # Who is meant, for error messages.
  def __named(host, port) = "for #{host.nil? ? "nil" : host.to_s.inspect} port #{port}"
end

class TCPSocket < IPSocket
  def self.gethostbyname(host)
    warn("TCPSocket.gethostbyname is deprecated; use Addrinfo.getaddrinfo instead.", uplevel: 0, category: :deprecated)
    list = Socket.__resolve(host, nil, nil, Socket::SOCK_STREAM, nil, Socket::AI_CANONNAME)
    ips = list.map { |a| __sockaddr_parts(a[3])[1] }
    [list[0][4] || host, [], list[0][0], *ips]
  end

  def initialize(host, port, local_host = nil, local_port = nil,
                 connect_timeout: nil, resolv_timeout: nil, open_timeout: nil, fast_fallback: Socket.tcp_fast_fallback)
    if open_timeout && (connect_timeout || resolv_timeout)
      raise ArgumentError, "Cannot specify open_timeout along with connect_timeout or resolv_timeout"
    end
    deadline = Socket.__deadline(open_timeout)
    lookup = open_timeout && open_timeout > 0 ? open_timeout : resolv_timeout
    list = Socket.__resolve(host, port, nil, Socket::SOCK_STREAM, nil, nil, lookup)
    if local_host || local_port
      locals = Socket.__resolve(local_host, local_port, nil, Socket::SOCK_STREAM, nil, Socket::AI_PASSIVE, lookup)
    end
    s = Socket.__first_of(TCPSocket, list, locals, connect_timeout, deadline, fast_fallback) do |e, _|
      raise IO::TimeoutError, "user specified timeout for #{host}:#{port}" if e.nil?
      raise SystemCallError.new("connect(2) #{__named(host, port)}", e)
    end
    s.autoclose = false
    __sock_adopt(self, s.fileno)
    s.close
    __made
  end
  private :initialize
end

class TCPServer < TCPSocket
  def initialize(host = (alone = true; nil), port = (short = true; nil))
    raise ArgumentError, "wrong number of arguments (given 0, expected 1..2)" if alone
    if short
      port = host
      host = nil
    end
    port = KumiSys.to_str(port) unless port.nil? || Integer === port
    error = nil
    Socket.__resolve(host, port.nil? ? "0" : port, nil, Socket::SOCK_STREAM, nil, Socket::AI_PASSIVE).each do |family, type, protocol, address|
      begin
        __sock_socket(self, family, type, protocol)
      rescue SystemCallError => e
        error = e
        next
      end
      __sock_setopt(self, Socket::SOL_SOCKET, Socket::SO_REUSEADDR, [1].pack("i"))
      e = __sock_bind(self, address)
      if e != 0
        error = SystemCallError.new("bind(2) #{__named(host, port)}", e)
        next
      end
      __sock_listen(self, Socket::SOMAXCONN)
      return __made
    end
    __io_close(self) if __io_initialized(self)
    raise error
  end
  private :initialize

  def listen(backlog) = __sock_listen(self, Socket::Constants.__int(backlog))

  def accept
    s = TCPSocket.allocate
    __sock_accept(self, s, false)
    s.__send__(:__made)
  end

  def accept_nonblock(exception: true)
    s = TCPSocket.allocate
    return Socket.__not_ready("accept(2)", exception) unless __sock_accept(self, s, true)
    s.__send__(:__made)
  end

  def sysaccept = __sock_accept(self, nil, false)[0]
end

class UDPSocket < IPSocket
  def initialize(family = Socket::AF_INET)
    @__family = Socket::Constants.__family(family)
    __sock_socket(self, @__family, Socket::SOCK_DGRAM, 0)
    __made
  end
  private :initialize

  def bind(host, port) = __each_address("bind(2)", host, port) { |a| __sock_bind(self, a) }
  def connect(host, port) = __each_address("connect(2)", host, port) { |a| Socket.__connect(self, a) }

  def send(data, flags, host = nil, port = (short = true; nil))
    return super(data, flags, host) if short
    data = KumiSys.to_str(data)
    flags = Socket::Constants.__int(flags)
    sent = nil
    __each_address("sendto(2)", host, port) do |a|
      sent = __sock_send(self, data, flags, a, false)
      0
    rescue Errno::EMSGSIZE
      raise
    rescue SystemCallError => e
      e.errno
    end
    sent
  end

  def recvfrom_nonblock(length, flags = 0, buffer = nil, exception: true)
    r = __receive(length, flags, buffer, true)
    return Socket.__not_ready("recvfrom(2)", exception) if r == false
    r && [r[0], r[1] && Socket.__ip_array(r[1], @__numeric)]
  end

  private

  # Tries one address after the other until the block gives 0.
  def __each_address(call, host, port)
    __io_check_open(self)
    e = 0
    Socket.__resolve(host, port, @__family || __sockaddr_parts(getsockname)[0], Socket::SOCK_DGRAM).each do |a|
      e = yield a[3]
      return 0 if e == 0
    end
    raise SystemCallError.new("#{call} #{__named(host, port)}", e)
  end
end
