t = Thread.new(5) { |x| x * 2 }
p t.value, t.alive?, t.status
m = Mutex.new
n = 0
10.times.map { Thread.new { 100.times { m.synchronize { n += 1 } } } }.each(&:join)
p n
q = Queue.new
prod = Thread.new { 3.times { |i| q << i }; q << nil }
got = []
while (v = q.pop)
  got << v
end
prod.join
p got, q.empty?, q.size
th = Thread.new { Thread.current[:a] = 1; Thread.current[:a] }
p th.value, Thread.current[:a], Thread.main == Thread.current
e = Thread.new { Thread.current.report_on_exception = false; raise ArgumentError, "in thread" }
begin
  e.join
rescue ArgumentError => x
  p x.message
end
s = Thread.new { sleep }
Thread.pass until s.stop?
p s.status, s.alive?
s.kill
s.join
p s.status, s.alive?
sq = SizedQueue.new(1)
c = Thread.new { r = []; 3.times { r << sq.pop }; r }
3.times { |i| sq.push(i) }
p c.value
cv = ConditionVariable.new
ready = false
w = Thread.new { m.synchronize { cv.wait(m) until ready; :woken } }
m.synchronize { ready = true; cv.signal }
p w.value, m.locked?, m.try_lock, m.owned?, m.unlock.class
p Thread.new { Thread.stop; 1 }.tap { |y| Thread.pass until y.stop?; y.run }.value
r = Thread.new { begin; sleep; rescue => ex; ex.message; end }
Thread.pass until r.stop?
r.raise("wake")
p r.value, [1, 2, 3].map { |i| Thread.new { i * i } }.map(&:value), Thread.list.size >= 1
p (q.pop(true) rescue $!.class), q.close.closed?, (q << 1 rescue $!.class), q.pop
tv = Thread.new { Thread.current.thread_variable_set(:k, 3); Thread.current.thread_variable_get(:k) }
p tv.value, tv.join(1).equal?(tv), Thread.new { Thread.exit; 1 }.value
