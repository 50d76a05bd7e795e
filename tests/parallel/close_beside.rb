# A descriptor's number is given anew as soon as it is closed. Whoever waits, looks or acts on a stream that another thread
# closes meets its own file or hears of the end, never the file that has the number now.

def closed
  yield
rescue IOError, Errno::EBADF
  :closed
end

# Closes `io` while the thread waits, and makes new pipes, one of which has its number. True when the thread heard of the end.
def told?(thread, io, stolen: false)
  io.close
  news = 3.times.map { IO.pipe }
  # Somebody who watches the new pipe under the old number would read this, or wait for ever.
  news.each { |_, w| w << "stolen" } if stolen
  got = thread.join(60) ? thread.value : :hangs
  news.flatten.each(&:close)
  puts "#{got.inspect} instead of the end" unless got == :closed
  got == :closed
end

# Readers, and others who wait, are told, though the number is another pipe's at once.
kinds = {
  read: ->(r) { r.read(1) },
  gets: ->(r) { r.gets },
  wait: ->(r) { r.wait_readable; r.read(1) },
  select: ->(r) { IO.select([r]); r.read(1) },
}
kinds.each do |name, look|
  all = 300.times.all? do |i|
    r, w = IO.pipe
    t = Thread.new { closed { look[r] } }
    Thread.pass if i.odd?
    told = told?(t, r, stolen: i % 4 < 2)
    w.close
    told
  end
  p [name, all]
end

# A writer that waits for room.
p(50.times.all? do
  r, w = IO.pipe
  t = Thread.new { closed { w.write("x" * 200_000) } }
  Thread.pass until t.stop?
  told = told?(t, w)
  r.close
  told
end)

# One direction of a two-way stream.
io = IO.popen("cat", "r+")
t = Thread.new { closed { io.read } }
Thread.pass until t.stop?
io.close_read
p t.join(60) && t.value
io.close

# A stream that becomes another file's wakes who waits for the old one.
r, w = IO.pipe
t = Thread.new { closed { r.read(4) } }
Thread.pass until t.stop?
x, y = IO.pipe
y << "news"
r.reopen(x)
p !t.join(60).nil?
[r, w, x, y].each(&:close)

# What a stream is asked, and what a child is given, is of that stream or nothing.
text = File.read(__FILE__)
stop = false
stray = 2.times.map do
  Thread.new do
    until stop
      a, b = IO.pipe
      a.close
      b.close
    end
  end
end
wrong = []
4.times.map do
  Thread.new do
    200.times do
      f = File.open(__FILE__)
      t = Thread.new { f.close }
      size = closed { f.stat.size }
      wrong << size unless size == text.size || size == :closed
      closed { f.nonblock? } == true && wrong << :flags
      t.join
    end
  end
end.each(&:join)
20.times do
  f = File.open(__FILE__)
  r, w = IO.pipe
  t = Thread.new { f.close }
  status = closed { system("cat", in: f, out: w) }
  t.join
  w.close
  got = r.read
  wrong << got unless got == (status == :closed ? "" : text)
  r.close
end
stop = true
stray.each(&:join)
p wrong
