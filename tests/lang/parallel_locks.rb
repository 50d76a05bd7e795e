# Locks, queues, conditions, kills, time limits and fibers in threads that run in parallel.
require "monitor"
n = 0
m = Mutex.new
ts = 8.times.map { Thread.new { 300.times { m.synchronize { n += 1 } } } }
ts.each(&:join)
raise "mutex #{n}" unless n == 2400
mon = Monitor.new; k = 0
8.times.map { Thread.new { 200.times { mon.synchronize { mon.synchronize { k += 1 } } } } }.each(&:join)
raise "mon #{k}" unless k == 1600
q = Queue.new; sq = SizedQueue.new(4)
prod = 4.times.map { |i| Thread.new { 200.times { |j| q << i * 1000 + j } } }
mid = 3.times.map { Thread.new { while (x = q.pop); sq << x; end } }
got = 4.times.map { Thread.new { a = []; while (x = sq.pop); a << x; end; a } }
prod.each(&:join); q.close; mid.each(&:join); sq.close
all = got.flat_map(&:value)
raise "queue #{all.size}" unless all.sort == (0...4).flat_map { |i| (i * 1000...i * 1000 + 200).to_a }
cv = ConditionVariable.new; turn = 0
rs = 3.times.map { |i| Thread.new { 60.times { m.synchronize { cv.wait(m) until turn % 3 == i; turn += 1; cv.broadcast } } } }
rs.each(&:join)
raise "cv #{turn}" unless turn == 180
# kills and raises against locks
20.times do
  mm = Mutex.new
  t = Thread.new { Thread.current.report_on_exception = false; loop { mm.synchronize { Thread.pass } } }
  on = false
  u = Thread.new { Thread.current.report_on_exception = false; begin; loop { on = true; mm.synchronize { } }; rescue ArgumentError; :x; end }
  Thread.pass until on
  t.kill; u.raise(ArgumentError)
  t.join; u.join
  raise "kept" if mm.locked?
end
10.times do
  qq = Queue.new
  ts = 4.times.map { Thread.new { qq.pop } }
  ts[0].kill; ts[2].kill; ts[0].join; ts[2].join
  2.times { |i| qq << i }
  r = [ts[1].value, ts[3].value].compact
  left = qq.size + [ts[0], ts[2]].count { |t| t.join; t.value }
  raise "lost #{r} #{left}" unless r.size == 2
end
a, b = Queue.new, Queue.new
t = Thread.new { 500.times { b << a.pop } }
500.times { a << 1; b.pop }
t.join
require "timeout"
20.times.map { |i| Thread.new { 5.times { begin; Timeout.timeout(0.0005 * i) { sleep 0.003 }; rescue Timeout::Error; end } } }.each(&:join)
fs = 100.times.map { |i| Thread.new { f = Fiber.new { |x| loop { x = Fiber.yield(x + 1) } }; (0..20).map { |v| f.resume(v) }.sum } }
raise "fibers" unless fs.sum(&:value) == 100 * 231
puts :ok
