# Long stacks whose lower frames are not looked at any more: what is written into them from above must not be lost.
def garbage(n) = n.times { |i| [i, "g#{i}"] }
def dig(n, a = "a#{n}", b = [n], c = { n => b }, &blk)
  if n == 0
    garbage(3000)
    return blk.call
  end
  r = dig(n - 1, &blk)
  raise "lost #{n}" unless a == "a#{n}" && b == [n] && c == { n => [n] }
  [r[0], r[1] + 1]
end
# The frame below all others gets a Proc, a match and a result from above.
def lower(n)
  x = "x#{n}"
  dig(200) do
    "key=#{n * 7}" =~ /=(\d+)/
    x = "changed #{n}"
    garbage(2000)
    Thread.pass
    [x, 0]
  end.then { |r| [r, $1, x] }
end
def as_proc(n, &b) = n == 0 ? (garbage(2000); k = proc(&b); garbage(2000); Thread.pass; garbage(2000); k.call) : as_proc(n - 1, &b)
def with_block(n)
  y = ["y#{n}"]
  as_proc(150) { y << "more"; garbage(2000); y.join }
end
# Frames are left by throw, raise, break and return.
def leave(n)
  got = []
  got << catch(:out) { dig(300) { garbage(3000); throw :out, ["thrown #{n}"] } }
  begin
    dig(300) { garbage(3000); raise "raised #{n}" }
  rescue => e
    got << e.message
  end
  got << dig(300) { garbage(3000); break "broken #{n}" }
  got << [1].each { dig(300) { garbage(3000); return got << "returned #{n}" } }
end
def ensured(n, log)
  return garbage(3000) if n == 0
  mine = "e#{n}"
  begin
    ensured(n - 1, log)
  ensure
    log << mine
  end
end
# Goes up and down, with a queue at each end.
def wave(q, n)
  return q.push(["bottom"]) if n == 0
  mine = ["w#{n}"]
  2.times { |i| wave(q, n - 1) if i == 0; mine << i.to_s }
  q.pop.then { |v| mine << v[0]; garbage(50); q.push([mine.join]) }
end
work = lambda do |t|
  out = []
  4.times do |i|
    n = t * 10 + i
    out << lower(n) << with_block(n) << leave(n)
    log = []
    ensured(400, log)
    out << [log.size, log.first, log.last]
    q = Queue.new
    wave(q, 60)
    out << q.pop[0].size
    f = Fiber.new { dig(250) { v = Fiber.yield("in #{n}"); garbage(3000); [v, 0] } }
    out << f.resume
    garbage(4000)
    out << f.resume("back #{n}")
  end
  out
end
one = work.call(1)
p one.size, one.first(7)
threads = 4.times.map { |t| Thread.new { work.call(t) } }
p threads.map { |t| t.value.size }, threads[1].value == one
def depth(n) = n == 0 ? (garbage(20_000); 0) : 1 + depth(n - 1)
p depth(8000)
