# Sockets: many clients at once, datagrams, pairs, limits of time, waiting for several, passed descriptors.
require "socket"
require "tmpdir"
require "timeout"

def shows
  p yield
rescue SystemCallError, IOError, SocketError, ArgumentError, TypeError => e
  puts "#{e.class}: #{e.message.gsub(/port \d+|:\d{4,5}\b/, "PORT")}"
end

# An echo server: a thread for each client.
def echo_server
  server = TCPServer.new("127.0.0.1", 0)
  thread = Thread.new do
    while (client = server.accept)
      Thread.new(client) do |c|
        while (line = c.gets)
          c.write(line.upcase)
        end
      ensure
        c.close
      end
    end
  rescue IOError
    :closed
  end
  yield server.addr[1]
ensure
  server.close
  p thread.value
end

echo_server do |port|
  answers = 60.times.map do |i|
    Thread.new do
      c = TCPSocket.new("127.0.0.1", port)
      10.times.map do |k|
        c.puts "client #{i} line #{k}"
        c.gets == "CLIENT #{i} LINE #{k}\n"
      end.all?.tap { c.close }
    end
  end
  p answers.map(&:value).tally

  # Much data both ways through one connection, written and read by different threads.
  c = TCPSocket.new("127.0.0.1", port)
  text = ("x" * 99 + "\n") * 20_000
  writer = Thread.new { c.write(text); c.close_write }
  p c.read.bytesize, c.read, writer.join.alive?
  c.close
  p c.closed?
end

puts "-- buffered and unbuffered"
a, b = UNIXSocket.pair
a.write "one\ntwo\nthree"
p b.gets, b.getc, b.readpartial(2)
shows { b.recv(3) }
p b.gets
a.write "rest"
a.close_write
p b.read, b.eof?, b.recv(1)
b.write "back"
b.close
p a.read, a.closed?
a.close
shows { a.write "x" }

puts "-- without waiting"
server = TCPServer.new("127.0.0.1", 0)
shows { server.accept_nonblock }
p server.accept_nonblock(exception: false)
c = TCPSocket.new("127.0.0.1", server.addr[1], connect_timeout: 5)
p IO.select([server], nil, nil, 5)&.first == [server]
s = server.accept_nonblock
p s.read_nonblock(5, exception: false), c.write_nonblock("hello")
p s.wait_readable(5).equal?(s), s.read_nonblock(5)
shows { s.recv_nonblock(5) }
sent = 0
loop do
  n = c.write_nonblock("y" * 65_536, exception: false)
  if n == :wait_writable
    # Full is what stays full once nothing is under way.
    next if c.wait_writable(0.2)
    break p(n)
  end
  sent += n
end
p sent > 65_536, c.wait_writable(0.01)
got = 0
got += s.readpartial(1 << 20).bytesize while got < sent
p got == sent, c.wait_writable(5).equal?(c)
p IO.select([s], [s], nil, 1)&.map(&:size)
[s, c].each(&:close)

puts "-- somebody else closes"
s = nil
t = Thread.new { s = server.accept; s.read(1) }
t.report_on_exception = false
c = TCPSocket.new("127.0.0.1", server.addr[1])
Thread.pass until s && t.stop?
s.close
shows { t.value }
t = Thread.new { server.accept }
t.report_on_exception = false
Thread.pass until t.stop?
server.close
shows { t.value }
c.close

puts "-- limits of time"
server = TCPServer.new("127.0.0.1", 0)
begin
  Timeout.timeout(0.05) { server.accept }
rescue Timeout::Error => e
  p e.class
end
c = TCPSocket.new("127.0.0.1", server.addr[1])
p c.wait_readable(0.02), IO.select([c, server], nil, nil, 5)&.first == [server]
t = Thread.new { c.read }
Thread.pass until t.stop?
t.kill
p t.join.status
shows { Timeout.timeout(60) { TCPSocket.new("127.0.0.1", 1) } }
shows { TCPSocket.new("127.0.0.1", 80, open_timeout: 1, connect_timeout: 1) }
shows { Socket.tcp("127.0.0.1", 1) }
shows { TCPServer.new("127.0.0.1", server.addr[1]) }
c.timeout = 0.02
shows { c.gets }
shows { c.write("z" * 50_000_000) }
p c.timeout
[c, server].each(&:close)

puts "-- datagrams"
u = UDPSocket.new
u.bind("127.0.0.1", 0)
v = UDPSocket.new
v.connect("127.0.0.1", u.addr[1])
v.send("first", 0)
v.send("", 0)
v.write "third"
message, from = u.recvfrom(100)
p message, from[0], from[1] == v.addr[1], from[2..]
p u.recvfrom(10)[0], u.recvmsg[0], u.recvfrom_nonblock(10, exception: false)
u.send("answer", 0, "127.0.0.1", from[1])
p v.recv(100)
shows { UDPSocket.new.send("x", 0) }
[u, v].each(&:close)
Socket.udp_server_sockets("127.0.0.1", 0) do |sockets|
  port = sockets[0].local_address.ip_port
  t = Thread.new { Socket.udp_server_loop_on(sockets) { |m, source| source.reply(m.reverse) } }
  Addrinfo.udp("127.0.0.1", port).connect { |s| s.write("abc"); p s.recv(10) }
  t.kill.join
end

puts "-- any family"
l = Socket.new(:INET, :STREAM)
shows { l.accept_nonblock }
l.setsockopt(:SOCKET, :REUSEADDR, true)
p l.getsockopt(:SOCKET, :REUSEADDR).bool, l.getsockopt(:SOCKET, :TYPE), l.setsockopt(Socket::Option.linger(true, 3)), l.getsockopt(:SOCKET, :LINGER)
l.bind(Addrinfo.tcp("127.0.0.1", 0))
l.listen(5)
t = Thread.new { l.accept }
k = Socket.new(Socket::AF_INET, Socket::SOCK_STREAM, 0)
p k.connect_nonblock(l.local_address, exception: false)
k.wait_writable(5)
p k.connect_nonblock(l.local_address, exception: false)
s, address = t.value
p address.ip_port == k.local_address.ip_port, address.inspect_sockaddr.start_with?("127.0.0.1:"), s.remote_address.to_s == k.local_address.to_s
k.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
p k.getsockopt(:TCP, :NODELAY).int, k.send("oob", 0), s.recvmsg(2)[0], s.recv(10)
k.shutdown(:WR)
p s.recv(10), s.recvfrom(5)
shows { k.write("x") }
shows { k.shutdown(:SIDEWAYS) }
shows { k.getsockopt(:SOCKET, :NOTHING) }
[l, k, s].each(&:close)
shows { Socket.new(:NOWHERE, :STREAM) }
shows { Socket.new(:INET, :STREAM).connect("x") }
shows { Socket.new(:INET, :STREAM).connect("\0" * 300) }
shows { Socket.unpack_sockaddr_in("\2\0") }
shows { Addrinfo.new("").ip_address }
t = Thread.new { Socket.tcp_server_loop("127.0.0.1", 0) { |x, _| x.close } }
Thread.pass until t.stop?
t.kill.join

puts "-- paths and descriptors"
Dir.mktmpdir do |dir|
  path = File.join(dir, "s")
  p((UNIXSocket.new(File.join(dir, "none")) rescue $!.class))
  UNIXServer.open(path) do |server|
    t = Thread.new { server.accept }
    c = UNIXSocket.new(path)
    s = t.value
    p c.peeraddr == ["AF_UNIX", path], s.addr == ["AF_UNIX", path], c.addr, s.getpeereid == [Process.euid, Process.egid]
    File.write(File.join(dir, "f"), "through a socket")
    File.open(File.join(dir, "f")) { |f| c.send_io(f) }
    io = s.recv_io
    p io.class, io.read
    io.close
    r, w = IO.pipe
    c.sendmsg("two of them", 0, nil, Socket::AncillaryData.unix_rights(r, w))
    m, _, _, control = s.recvmsg(scm_rights: true)
    x, y = control.unix_rights
    y.write "pipe"
    y.flush
    p m, control.cmsg_is?(:SOCKET, :RIGHTS), [r, w].none? { |z| z.fileno == x.fileno }, r.readpartial(10)
    [r, w, x, y, c, s].each(&:close)
  end
  p File.socket?(path)
  File.unlink(path)
  Socket.unix_server_socket(path) do |server|
    Socket.unix(path) { |c| c.write "hello" }
    s, = server.accept
    p s.read
    s.close
  end
  p File.exist?(path)
end
# What was dropped above is closed when it is collected: not between the two counts.
3.times { GC.start }
before = Dir.children("/proc/self/fd").size
a, b = UNIXSocket.pair
20.times { a.send_io($stdin) }
a.close
20.times { b.recvmsg }
b.close
p Dir.children("/proc/self/fd").size == before

puts "-- names"
p Addrinfo.tcp("127.0.0.1", 80), Addrinfo.udp("::1", 53), Addrinfo.unix("/x"), Addrinfo.ip("10.1.2.3").ipv4_private?
p Addrinfo.ip("::ffff:1.2.3.4").ipv6_to_ipv4, Addrinfo.ip("fe80::1").ipv6_linklocal?, Addrinfo.ip("ff02::1").ipv6_mc_linklocal?
p Socket.unpack_sockaddr_in(Socket.sockaddr_in(8080, "1.2.3.4")), Socket.unpack_sockaddr_un(Socket.sockaddr_un("/tmp/x"))
p Socket.getaddrinfo("127.0.0.1", 80, :INET, :STREAM), Socket.getnameinfo(["AF_INET", 80, "127.0.0.1"], Socket::NI_NUMERICHOST | Socket::NI_NUMERICSERV)
p Addrinfo.getaddrinfo("localhost", nil, :INET, :STREAM).map(&:ip_address), IPSocket.getaddress("127.0.0.1")
shows { Addrinfo.tcp("127.0.0.1", "no such service") }
shows { Addrinfo.ip("nul\0byte") }
p Marshal.load(Marshal.dump(Addrinfo.tcp("127.0.0.1", 80))), Socket.gethostname.is_a?(String), Socket.getifaddrs.any? { |i| i.addr&.ipv4_loopback? }
p Socket::Option.int(:INET, :IP, :TTL, 9), Socket::AncillaryData.int(:UNIX, :SOCKET, :RIGHTS, 3).int
p Socket::AF_INET, Socket::Constants::SOCK_STREAM, (Socket.getservbyname("nothing like it") rescue $!.class)
