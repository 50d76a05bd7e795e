# Sockets under threads that read, write, wait, accept and close at the same time.
require "socket"
require "timeout"
# Many writers to one socket, whole lines must stay whole
a, b = UNIXSocket.pair
ws = 8.times.map { |i| Thread.new { 500.times { |k| a.write("#{i}:#{k}:#{"x" * 50}\n") } } }
seen = Hash.new(0)
r = Thread.new { 4000.times { l = b.gets; seen[l[/\A(\d):(\d+):x{50}\n\z/, 1]] += 1 } }
(ws + [r]).each(&:join)
p seen.values.tally == { 500 => 8 }
# Many readers of one socket
rs = 6.times.map { Thread.new { n = 0; while (x = b.getbyte); n += 1; end; n } }
a.write("y" * 100_000)
a.close
p rs.sum(&:value)
b.close
# Close while others wait, read and write
15.times do
  x, y = UNIXSocket.pair
  ts = [Thread.new { loop { x.read(1) or break } }, Thread.new { loop { x.write("z" * 1000) } }, Thread.new { loop { x.wait_readable(0.001) } },
        Thread.new { y.readpartial(500) while true }, Thread.new { IO.select([x, y], nil, nil, 1) while true }]
  ts.each { |t| t.report_on_exception = false }
  sleep rand * 0.004
  [x, y].shuffle.each(&:close)
  ts.each do |t|
    t.join(60) or abort "stuck #{t.inspect} #{t.backtrace.inspect}"
  rescue IOError, SystemCallError
  end
end
p :closed
def echo(client)
  while (line = client.gets)
    client << line
  end
rescue SystemCallError, IOError
  nil
ensure
  client.close
end

# Accept storms with kills and timeouts
s = TCPServer.new("127.0.0.1", 0)
acc = 4.times.map { Thread.new { loop { Thread.new(s.accept) { |q| echo(q) } } } }
acc.each { |t| t.report_on_exception = false }
done = 200.times.map do |i|
  Thread.new do
    c = TCPSocket.new("127.0.0.1", s.addr[1])
    begin
      Timeout.timeout(i % 5 == 0 ? 0.001 * rand : 60) { 5.times { c.puts "hi"; c.gets == "hi\n" or raise "bad" } }
      :ok
    rescue Timeout::Error
      :late
    ensure
      c.close
    end
  end
end
t = done.map(&:value).tally
p t[:ok] >= 160
acc.each(&:kill).each(&:join)
# Datagrams, many to one
u = UDPSocket.new
u.bind("127.0.0.1", 0)
u.setsockopt(:SOCKET, :RCVBUF, 1 << 20)
port = u.addr[1]
g = Thread.new { 200.times.count { u.recvfrom(100)[0] == "m" } }
4.times.map { Thread.new { v = UDPSocket.new; 50.times { v.send("m", 0, "127.0.0.1", port) }; v.close } }.each(&:join)
p g.value
# Descriptors passed between threads
a, b = UNIXSocket.pair
w = Thread.new { 50.times { |i| q, z = IO.pipe; z << i.to_s; z.close; a.send_io(q); q.close } }
p 50.times.sum { io = b.recv_io; v = io.read.to_i; io.close; v } == (0...50).sum
w.join
# Names from many threads
p 40.times.map { Thread.new { Addrinfo.tcp("localhost", 80).ip_address } }.map(&:value).uniq
GC.start
p Dir.children("/proc/self/fd").size < 40
