# frozen_string_literal: true

# What all sockets do. Reading, writing, waiting and closing are IO's.
class BasicSocket
  @__numeric = true

  class << self
    # Do addresses stay numbers? One answer for all kinds of sockets.
    def do_not_reverse_lookup = BasicSocket.instance_variable_get(:@__numeric)

    def do_not_reverse_lookup=(on)
      BasicSocket.instance_variable_set(:@__numeric, on ? true : false)
    end

    def for_fd(fd)
      s = allocate
      __sock_adopt(s, Socket::Constants.__int(fd))
      s.__send__(:__made)
    end
  end

  undef_method :initialize

  def do_not_reverse_lookup
    __io_check_open(self)
    @__numeric
  end

  def do_not_reverse_lookup=(on)
    __io_check_open(self)
    @__numeric = on ? true : false
  end

  def close_read
    __io_check_open(self)
    super
  end

  def close_write
    __io_check_open(self)
    super
  end

  def shutdown(how = Socket::SHUT_RDWR)
    how = Socket::Constants.__how(how)
    unless how.between?(0, 2)
      raise ArgumentError, "'how' should be either :SHUT_RD, :SHUT_WR, :SHUT_RDWR"
    end
    __sock_shutdown(self, how)
  end

  def setsockopt(level, optname = (alone = true; nil), value = (short = true; nil))
    if Socket::Option === level && alone
      option = level
      return __sock_setopt(self, option.level, option.optname, option.data)
    end
    raise ArgumentError, "wrong number of arguments (given #{alone ? 1 : 2}, expected 3)" if short
    family = __family
    level = Socket::Constants.__level(family, level)
    optname = Socket::Constants.__option(family, level, optname)
    data = case value
    when Integer then [value].pack("i")
    when true then [1].pack("i")
    when false then [0].pack("i")
    else KumiSys.to_str(value)
    end
    __sock_setopt(self, level, optname, data)
  end

  def getsockopt(level, optname)
    family = __family
    level = Socket::Constants.__level(family, level)
    optname = Socket::Constants.__option(family, level, optname)
    Socket::Option.new(family, level, optname, __sock_getopt(self, level, optname))
  end

  def getsockname = __sock_name(self, false)
  def getpeername = __sock_name(self, true)

  def getpeereid
    _, user, group = __sock_getopt(self, Socket::SOL_SOCKET, Socket::SO_PEERCRED).unpack("iii")
    raise Errno::ENOTCONN, "getpeereid" if user == -1
    [user, group]
  end

  def local_address = __addrinfo(getsockname)
  def remote_address = __addrinfo(getpeername)

  # The local address as a client would use it: the loopback one where any address is listened on.
  def connect_address
    a = local_address
    if a.unix?
      raise SocketError, "unbound Unix socket" if a.unix_path.empty?
    elsif a.ip?
      raise SocketError, "unbound #{a.ipv4? ? "IPv4" : "IPv6"} socket" if a.ip_port == 0
      case a.ip_address
      when "0.0.0.0" then ip = "127.0.0.1"
      when "::" then ip = "::1"
      end
      if ip
        family = a.ipv4? ? "AF_INET" : "AF_INET6"
        a = Addrinfo.new([family, a.ip_port, nil, ip], a.pfamily, a.socktype, a.protocol)
      end
    end
    a
  end

  def send(data, flags, to = nil)
    data = KumiSys.to_str(data)
    to = Socket.__sockaddr(to) unless to.nil?
    __sock_send(self, data, Socket::Constants.__int(flags), to, false)
  end

  def recv(length, flags = 0, buffer = nil)
    r = __receive(length, flags, buffer, false)
    r && r[0]
  end

  def recv_nonblock(length, flags = 0, buffer = nil, exception: true)
    r = __receive(length, flags, buffer, true)
    return Socket.__not_ready("recvfrom(2)", exception) if r == false
    r && r[0]
  end

  def sendmsg(data, flags = 0, to = nil, *controls) = __send_message(data, flags, to, controls, false)

  def sendmsg_nonblock(data, flags = 0, to = nil, *controls, exception: true)
    n = __send_message(data, flags, to, controls, true)
    return n if n
    return :wait_writable unless exception
    raise IO::EAGAINWaitWritable, "sendmsg(2) would block"
  end

  def recvmsg(length = nil, flags = 0, control_length = nil, scm_rights: false)
    __receive_message(length, flags, control_length, scm_rights, false)
  end

  def recvmsg_nonblock(length = nil, flags = 0, control_length = nil, scm_rights: false, exception: true)
    r = __receive_message(length, flags, control_length, scm_rights, true)
    r == false ? Socket.__not_ready("recvmsg(2)", exception) : r
  end

  private

  # What every new socket gets.
  def __made
    @__numeric = BasicSocket.do_not_reverse_lookup
    self
  end

  def __family = getsockname.unpack1("S") || Socket::AF_UNSPEC

  # The Addrinfo of an address that belongs to this socket.
  def __addrinfo(address)
    family = address.unpack1("S") || Socket::PF_UNSPEC
    Addrinfo.__make(address, family, __sock_type(self), 0)
  end

  # [data, address]; nil at the end, false when it would block.
  def __receive(length, flags, buffer, nonblock)
    length = Socket::Constants.__int(length)
    buffer = KumiSys.read_buffer(buffer) unless buffer.nil?
    r = __sock_recv(self, length, Socket::Constants.__int(flags), nonblock)
    if buffer
      r ? r[0] = KumiSys.fill_buffer(buffer, r[0], false) : r.nil? && buffer.clear
    end
    r
  end

  def __send_message(data, flags, to, controls, nonblock)
    data = KumiSys.to_str(data)
    to = Socket.__sockaddr(to) unless to.nil?
    list = []
    unless controls.empty?
      family = __family
      controls.each do |c|
        if Array === c
          raise ArgumentError, "an element of controls should be 3-elements array" if c.size != 3
          level = Socket::Constants.__level(family, c[0])
          list << level << Socket::Constants.__control(family, level, c[1]) << KumiSys.to_str(c[2])
        else
          list << c.level << c.type << c.data
        end
      end
    end
    __sock_sendmsg(self, data, Socket::Constants.__int(flags), to, list, nonblock)
  end

  def __receive_message(length, flags, control_length, keep, nonblock)
    length = Socket::Constants.__int(length) unless length.nil?
    control_length = Socket::Constants.__int(control_length) unless control_length.nil?
    r = __sock_recvmsg(self, length, Socket::Constants.__int(flags), control_length, keep, nonblock)
    return r unless r
    data, from, flags, list = r
    family = __family
    from = Addrinfo.__make(from || "", from ? from.unpack1("S") || 0 : Socket::PF_UNSPEC, __sock_type(self), 0)
    controls = list.each_slice(3).map do |level, type, bytes|
      c = Socket::AncillaryData.new(family, level, type, bytes)
      c.__open_rights if keep && level == Socket::SOL_SOCKET && type == Socket::SCM_RIGHTS
      c
    end
    [data, from, flags, *controls]
  end
end
