# frozen_string_literal: true

# A socket of any family and kind, as near to the system as Ruby gets.
class Socket
  class << self
    def pair(domain = AF_UNIX, type = SOCK_STREAM, protocol = 0, &)
      __pair(self, Constants.__family(domain), type, protocol, &)
    end
    alias socketpair pair

    # Two connected sockets of a class; with a block they are closed after it.
    def __pair(kind, domain, type, protocol)
      type = Constants.__socktype(type)
      pair = [kind.allocate, kind.allocate]
      __sock_pair(pair[0], pair[1], domain, type, Constants.__int(protocol))
      pair.each { |s| s.__send__(:__made) }
      return pair unless block_given?
      begin
        yield pair
      ensure
        pair.each { |s| s.close unless s.closed? }
      end
    end
    private :__pair

    # A connected TCP socket; with a block it is closed after it.
    def tcp(host, port, local_host = nil, local_port = nil, connect_timeout: nil, resolv_timeout: nil, open_timeout: nil,
            fast_fallback: tcp_fast_fallback)
      if open_timeout && (connect_timeout || resolv_timeout)
        raise ArgumentError, "Cannot specify open_timeout along with connect_timeout or resolv_timeout"
      end
      deadline = __deadline(open_timeout)
      lookup = open_timeout && open_timeout > 0 ? open_timeout : resolv_timeout
      list = __resolve(host, port, nil, SOCK_STREAM, nil, nil, lookup)
      locals = __resolve(local_host, local_port, nil, SOCK_STREAM, nil, nil, lookup) if local_host || local_port
      s = __first_of(Socket, list, locals, connect_timeout, deadline, fast_fallback) do |e, address|
        raise Errno::ETIMEDOUT, "user specified timeout for #{host}:#{port}" if e.nil?
        shown = Addrinfo.__make(address[3], address[0], address[1], address[2]).inspect_sockaddr
        raise SystemCallError.new("connect(2) for #{shown}", e)
      end
      return s unless block_given?
      begin
        yield s
      ensure
        s.close
      end
    end

    # A connected UNIX socket; with a block it is closed after it.
    def unix(path, &block) = Addrinfo.unix(path).connect(&block)
  end

  def initialize(domain, type = SOCK_STREAM, protocol = 0)
    __sock_socket(self, Constants.__family(domain), Constants.__socktype(type), Constants.__int(protocol))
    __made
  end
  private :initialize

  def bind(address)
    to = Socket.__sockaddr(address)
    e = __sock_bind(self, to)
    raise SystemCallError.new("bind(2) for #{__shown(to)}", e) if e != 0
    0
  end

  def listen(backlog) = __sock_listen(self, Constants.__int(backlog))

  def connect(address)
    to = Socket.__sockaddr(address)
    e = Socket.__connect(self, to)
    raise SystemCallError.new("connect(2) for #{__shown(to)}", e) if e != 0
    0
  end

  def connect_nonblock(address, exception: true)
    to = Socket.__sockaddr(address)
    case e = __sock_connect(self, to)
    when 0 then 0
    when Errno::EINPROGRESS::Errno
      return :wait_writable unless exception
      raise IO::EINPROGRESSWaitWritable, "connect(2) would block"
    when Errno::EISCONN::Errno
      return 0 unless exception
      raise SystemCallError.new("connect(2) for #{__shown(to)}", e)
    else
      raise SystemCallError.new("connect(2) for #{__shown(to)}", e)
    end
  end

  def accept
    s = Socket.allocate
    from = __sock_accept(self, s, false)
    s.__send__(:__made)
    [s, s.__send__(:__addrinfo, from)]
  end

  def accept_nonblock(exception: true)
    s = Socket.allocate
    from = __sock_accept(self, s, true)
    return Socket.__not_ready("accept(2)", exception) unless from
    s.__send__(:__made)
    [s, s.__send__(:__addrinfo, from)]
  end

  def sysaccept
    fd, from = __sock_accept(self, nil, false)
    [fd, __addrinfo(from)]
  end

  def recvfrom(length, flags = 0)
    r = __receive(length, flags, nil, false)
    r && [r[0], __addrinfo(r[1] || "")]
  end

  def recvfrom_nonblock(length, flags = 0, buffer = nil, exception: true)
    r = __receive(length, flags, buffer, true)
    return Socket.__not_ready("recvfrom(2)", exception) if r == false
    r && [r[0], __addrinfo(r[1] || "")]
  end

  # Keeps an IPv6 socket from taking IPv4 connections too.
  def ipv6only!
    setsockopt(:IPV6, :V6ONLY, 1) if __family == AF_INET6
  end

  private

  # An address for error messages.
  def __shown(address) = Addrinfo.__make(address, 0, 0, 0).inspect_sockaddr
end
