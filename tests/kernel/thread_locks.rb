# Locks and queues: results, errors, waiting lists, time limits, closing; Monitor, Timeout.
require "monitor"
require "timeout"
def err
  yield
  "no error"
rescue Exception => e
  "#{e.class}: #{e.message.sub(/0x\h+/, "0x0")}"
end
def asleep(t)
  Thread.pass until t.stop?
  t
end

m = Mutex.new
p m.lock.equal?(m), m.locked?, m.owned?, m.try_lock
puts err { m.lock }, err { Thread.new { Thread.current.report_on_exception = false; m.unlock }.join }
p m.unlock.equal?(m), m.locked?
puts err { m.unlock }, err { m.synchronize }, err { m.synchronize { m.unlock } }, err { m.sleep }
puts err { Fiber.new { m.lock; Fiber.yield }.tap(&:resume); m.lock }
m = Mutex.new
p m.synchronize { :result }, m.synchronize { m.sleep(0.01) }
puts err { m.synchronize { m.sleep(-1) } }
p Thread::Mutex.equal?(Mutex), Marshal.dump(1).class
puts err { Marshal.dump(Mutex.new) }, err { Marshal.dump(Queue.new) }, err { Marshal.dump(ConditionVariable.new) }

# many threads count under a lock
n = 0
8.times.map { Thread.new { 200.times { m.synchronize { v = n; Thread.pass if v % 7 == 0; n = v + 1 } } } }.each(&:join)
p n

# first come, first served
q = Queue.new
m.lock
ts = 5.times.map { |i| asleep(Thread.new { m.synchronize { q << i } }) }
m.unlock
ts.each(&:join)
p Array.new(5) { q.pop }

# condition variables
cv = ConditionVariable.new
ready = []
ts = 3.times.map { |i| asleep(Thread.new { m.synchronize { cv.wait(m) until ready.include?(i); i } }) }
m.synchronize { ready << 1; cv.broadcast }
p ts[1].value
asleep(ts[0])
asleep(ts[2])
m.synchronize { ready << 0 << 2; cv.signal; cv.signal }
p ts.map(&:value)
p m.synchronize { cv.wait(m, 0.01) }.nil?, cv.signal.equal?(cv), cv.broadcast.equal?(cv)
puts err { cv.wait(m) }, err { cv.dup }

# queues
q = Queue.new([1, 2, 3])
p q.size, q.length, q.empty?, q.pop, q.shift, q.deq, q.empty?, q.num_waiting, q.closed?
puts err { q.pop(true) }, err { q.pop(true, timeout: 1) }, err { q.pop(timeout: "1") }, err { q.freeze }, err { q.dup }
p q.pop(timeout: 0), q.pop(timeout: 0.01)
t = asleep(Thread.new { [q.pop, q.pop(timeout: 60)] })
p q.num_waiting
q << nil << false
p t.value
p (q << 1).equal?(q), q.clear.equal?(q), q.size
t = 3.times.map { asleep(Thread.new { q.pop }) }
q.close
p t.map(&:value), q.closed?, q.pop, q.close.equal?(q)
puts err { q << 1 }, err { Queue.new(1) }, err { Queue.new([]).push }
p Queue.new(1..3).size
o = Object.new
def o.to_a = 5
puts err { Queue.new(o) }

sq = SizedQueue.new(2)
p sq.max, (sq << 1).equal?(sq), sq.push(2).equal?(sq), sq.size
puts err { sq.push(3, true) }, err { sq.push(3, true, timeout: 1) }, err { SizedQueue.new(0) }, err { SizedQueue.new("2") }, err { sq.max = -1 }
p sq.push(3, timeout: 0.01), sq.size
t = asleep(Thread.new { sq.push(3); sq.push(4); :pushed })
p sq.num_waiting
sq.max = 4
p t.value, sq.size, sq.max
t = asleep(Thread.new { sq.push(5) })
p sq.pop
p t.value.equal?(sq)
t = asleep(Thread.new { sq << 6 })
sq.clear
t.join
p sq.size
sq.close
puts err { sq << 7 }
p sq.pop, sq.pop

# producer and consumer, both ways
a, b = Queue.new, SizedQueue.new(3)
t = Thread.new { while (x = a.pop); b << x * 2; end; b.close }
Thread.new { 100.times { |i| a << i }; a.close }
sum = 0
while (x = b.pop)
  sum += x
end
p sum

# Monitor
mon = Monitor.new
p mon.enter, mon.mon_owned?, mon.mon_locked?, mon.try_enter, mon.exit, mon.exit, mon.mon_locked?
puts err { mon.exit }, err { mon.mon_check_owner }, err { mon.new_cond.wait }
c = mon.new_cond
t = asleep(Thread.new { mon.synchronize { mon.synchronize { c.wait; [mon.mon_owned?, mon.try_enter] } } })
mon.synchronize { c.signal }
p t.value
p mon.synchronize { c.wait(0.01) } ? true : false
class Box
  include MonitorMixin
  def initialize
    super()
    @c = new_cond
    @v = []
  end
  def put(x) = synchronize { @v << x; @c.signal }
  def take = synchronize { @c.wait_while { @v.empty? }; @v.shift }
end
box = Box.new
t = Thread.new { 3.times.map { box.take } }
3.times { |i| box.put(i) }
p t.value
p [].extend(MonitorMixin).mon_synchronize { :in }

# Timeout
p Timeout.timeout(5) { |s| s }, Timeout.timeout(nil) { :none }, Timeout.timeout(0) { :zero }
puts err { Timeout.timeout(0.02) { sleep } }, err { Timeout.timeout(0.02, ArgumentError) { Queue.new.pop } }
puts err { Timeout.timeout(0.02, ArgumentError, "mine") { loop {} } }, err { Timeout.timeout(-1) {} }
log = []
puts err { Timeout.timeout(0.02) { begin; sleep; rescue => e; log << e; ensure; log << :ensure; end } }
p log
puts err { Timeout.timeout(0.5) { Timeout.timeout(0.02) { sleep } } }, err { Timeout.timeout(0.02) { Timeout.timeout(5) { sleep } } }
p Timeout.timeout(5) { begin; Timeout.timeout(0.02) { sleep }; rescue Timeout::Error; :inner; end }
t0 = Process.clock_gettime(Process::CLOCK_MONOTONIC)
20.times.map { |i| Thread.new { begin; Timeout.timeout(0.02 + i * 0.001) { sleep }; rescue Timeout::Error; i; end } }.each_with_index { |x, i| p [i, x.value] unless x.value == i }
p Process.clock_gettime(Process::CLOCK_MONOTONIC) - t0 < 60
