# Waiting for several descriptors: whoever comes first ends the wait, and no watch of it is left behind.

# Each of several threads waits for all pipes of its own; others write.
totals = 4.times.map do |t|
  Thread.new do
    pipes = 5.times.map { IO.pipe }
    readers = pipes.map(&:first)
    writer = Thread.new do
      100.times do |i|
        pipes[i * 7 % 5][1].write("#{i}\n")
        Thread.pass if i % 3 == 0
        sleep 0.0005 if i % 20 == 0
      end
      pipes.each { |_, w| w.close }
    end
    seen = []
    until readers.empty?
      ready, = IO.select(readers)
      ready.each do |r|
        line = r.gets
        line ? seen << line.to_i : readers.delete(r)
      end
    end
    writer.join
    pipes.each { |r, _| r.close }
    seen.sort == (0...100).to_a
  end
end
p totals.map(&:value)

# Many threads wait for the same two.
a, wa = IO.pipe
b, wb = IO.pipe
got = Queue.new
waiting = 6.times.map { Thread.new { IO.select([a, b]) && got << 1 } }
Thread.pass until waiting.all?(&:stop?)
wb << "x"
waiting.each(&:join)
p got.size

# Reading and writing, the time, plain files.
b.read_nonblock(1)
p IO.select([a, b], nil, nil, 0.01)
p IO.select([a, b], [wa, wb], nil, 5).map(&:size)
p IO.select([a, b], nil, [a, b], 0.01)
File.open(__FILE__) { |f| p IO.select([a, f, b]).first == [f] }
t0 = Process.clock_gettime(Process::CLOCK_MONOTONIC)
200.times { IO.select([a, b], nil, nil, 0.0001) }
p Process.clock_gettime(Process::CLOCK_MONOTONIC) - t0 < 10

# One is closed while a thread waits.
c, wc = IO.pipe
t = Thread.new { IO.select([a, c, b]) rescue $!.class }
Thread.pass until t.stop?
t0 = Process.clock_gettime(Process::CLOCK_MONOTONIC)
c.close
p [IOError, Errno::EBADF].include?(t.value), Process.clock_gettime(Process::CLOCK_MONOTONIC) - t0 < 5
wc.close
p (IO.select([a, c]) rescue $!.class)

# A thread is interrupted or killed in its wait; afterwards others wait for the same.
t = Thread.new { IO.select([a, b]) rescue $!.message }
Thread.pass until t.stop?
t.raise("out")
p t.value
t = Thread.new { IO.select([a, b]) }
Thread.pass until t.stop?
t.kill.join
t = Thread.new { IO.select([a, b]).first }
Thread.pass until t.stop?
wa << "y"
p t.value == [a]

# The child of a fork waits for the same ones by itself.
a.read_nonblock(1)
t = Thread.new { IO.select([a, b]).first }
Thread.pass until t.stop?
pid = fork do
  Thread.new { sleep 0.01; wb << "z" }
  exit!(IO.select([a, b]).first == [b] ? 7 : 1)
end
p Process.wait2(pid)[1].exitstatus, t.value == [b]
b.read_nonblock(1)

# Nothing is left that would hide a deadlock.
Thread.new { IO.select([a, b], nil, nil, 0.01) }.join
begin
  Queue.new.pop
rescue Exception => e
  p e.class.to_s
end
