# Deadlocks of several shapes are reported in the main thread, which may go on.
def report
  yield
  p :none
rescue Exception => e
  puts "#{e.class}: #{e.message.lines.first(2).map(&:strip).join(" | ").gsub(/0x\h+/, "0x0").strip}"
end
def asleep(t)
  Thread.pass until t.stop?
  t
end

report { Queue.new.pop }
report { Thread.stop }
q = Queue.new
a = asleep(Thread.new { q.pop })
report { a.join }
q << 1
p a.value

# a circle of two locks
m, n = Mutex.new, Mutex.new
m.lock
t = asleep(Thread.new { n.synchronize { m.synchronize { :both } } })
report { n.lock }
m.unlock
p t.value, n.locked?

# three threads that join each other
list = []
list << Thread.new { Thread.stop; list[1].join; 0 }
list << Thread.new { Thread.stop; list[2].join; 1 }
list << Thread.new { Thread.stop; list[0].join; 2 }
list.each { |x| asleep(x) }
list.each { |x| x.run }
report { list[0].join }
list.each { |x| x.kill }
list.each { |x| x.join }

# a condition nobody signals, a full queue nobody empties
cv = ConditionVariable.new
report { m.synchronize { cv.wait(m) } }
p m.locked?
report { SizedQueue.new(1).push(1).push(2) }

# a time limit, a sleep and a pipe that may still be written to are none
p Queue.new.pop(timeout: 0.01)
t = Thread.new { sleep 0.01; q << :late }
p q.pop
p Thread.ignore_deadlock
# the report names the lines
def waits_here(queue) = queue.pop
b = asleep(Thread.new { waits_here(q) })
begin
  b.join
rescue Exception => e
  puts e.message.lines.map { |l| l.gsub(/0x\h+/, "0x0").sub(/(\S*\/)?thread_deadlock.rb/, "FILE").rstrip }
  p e.backtrace.size
end
