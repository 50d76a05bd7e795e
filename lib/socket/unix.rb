# frozen_string_literal: true

# Sockets of this machine, named by paths.
class UNIXSocket < BasicSocket
  class << self
    def pair(type = Socket::SOCK_STREAM, protocol = 0)
      Socket.__send__(:__pair, self, Socket::AF_UNIX, type, protocol, &__block_proc)
    end
    alias socketpair pair
  end

  def initialize(path)
    path = KumiSys.to_path(path)
    address = Socket.sockaddr_un(path)
    __sock_socket(self, Socket::AF_UNIX, Socket::SOCK_STREAM, 0)
    e = Socket.__connect(self, address)
    if e != 0
      __io_close(self)
      raise SystemCallError.new("connect(2) for #{path}", e)
    end
    __made
  end
  private :initialize

  def path = Socket.__unix_array(getsockname)[1]
  def addr = Socket.__unix_array(getsockname)
  def peeraddr = Socket.__unix_array(getpeername)

  def recvfrom(length, flags = 0, buffer = nil)
    r = __receive(length, flags, buffer, false)
    r && [r[0], Socket.__unix_array(r[1])]
  end

  # Hands a descriptor to the process at the other end.
  def send_io(io)
    fd = Integer === io ? io : KumiSys.to_io(io).fileno
    __sock_sendmsg(self, "\0", 0, nil, [Socket::SOL_SOCKET, Socket::SCM_RIGHTS, [fd].pack("i")], false)
    nil
  end

  def recv_io(kind = IO, mode = nil)
    r = __sock_recvmsg(self, 1, 0, nil, true, false)
    controls = r ? r[3].each_slice(3).to_a : []
    found = controls.find { |level, type, _| level == Socket::SOL_SOCKET && type == Socket::SCM_RIGHTS }
    raise SocketError, "file descriptor was not passed (msg_controllen=0)" unless found
    fd, *more = found[2].unpack("i*")
    more.each { |n| __fd_close(n) }
    return fd if kind.nil?
    mode.nil? ? kind.for_fd(fd) : kind.for_fd(fd, mode)
  end

  def inspect
    return super if closed?
    path = self.path
    path.empty? ? "#<#{self.class}:fd #{fileno}>" : "#<#{self.class}:fd #{fileno}, #{path}>"
  rescue SystemCallError, IOError
    super
  end
end

class UNIXServer < UNIXSocket
  def initialize(path)
    path = KumiSys.to_path(path)
    address = Socket.sockaddr_un(path)
    __sock_socket(self, Socket::AF_UNIX, Socket::SOCK_STREAM, 0)
    e = __sock_bind(self, address)
    if e != 0
      __io_close(self)
      raise SystemCallError.new("bind(2) for #{path}", e)
    end
    __sock_listen(self, Socket::SOMAXCONN)
    __made
  end
  private :initialize

  def listen(backlog) = __sock_listen(self, Socket::Constants.__int(backlog))

  def accept
    s = UNIXSocket.allocate
    __sock_accept(self, s, false)
    s.__send__(:__made)
  end

  def accept_nonblock(exception: true)
    s = UNIXSocket.allocate
    return Socket.__not_ready("accept(2)", exception) unless __sock_accept(self, s, true)
    s.__send__(:__made)
  end

  def sysaccept = __sock_accept(self, nil, false)[0]
end
