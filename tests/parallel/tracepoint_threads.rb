# TracePoints beside threads that run: enabled and disabled by all of them, told to the right one, also of waits, kills and
# ends of threads.

class Work
  def one(x) = x + 1
  def two(x)
    [x, one(x)].map { |y| y * 2 }.sum
  end
end

# Each thread hears of itself alone.
counts = 4.times.map do |k|
  Thread.new do
    w = Work.new
    mine = Thread.current
    n = 0
    strange = 0
    tp = TracePoint.new(:call) { Thread.current == mine ? n += 1 : strange += 1 }
    20.times { tp.enable { 10.times { |i| w.two(i) } }; w.two(k) }
    [n, strange]
  end
end.map(&:value)
p counts

# All threads are heard, whoever enables it; what others do meanwhile is right.
heard = Queue.new
tp = TracePoint.new(:call) { heard << Thread.current }
threads = nil
tp.enable(target_thread: nil) do
  threads = 3.times.map { Thread.new { 10.times.sum { |i| Work.new.two(i) } } }
  p threads.map(&:value)
end
list = Array.new(heard.size) { heard.pop }
p threads.map { |t| list.count(t) }

# Enabling and disabling at random beside work never loses a value.
stop = false
switch = Thread.new do
  tp = TracePoint.new(:line, :call, :return, :c_call, :c_return, :b_call, :b_return, :raise) { }
  until stop
    tp.enable(target_thread: nil)
    Thread.pass
    tp.disable
    Thread.pass
  end
end
results = 3.times.map do
  Thread.new do
    200.times.sum do |i|
      begin
        raise "x" if i % 7 == 0
        Work.new.two(i)
      rescue
        [1, 2].each { |x| break x }
      ensure
        i
      end
    end
  end
end.map(&:value)
stop = true
switch.join
p results.uniq.size, results[0] == 200.times.sum { |i| i % 7 == 0 ? 1 : Work.new.two(i) }

# Waits, kills and time limits go on as ever.
events = Queue.new
tp = TracePoint.new(:c_return, :thread_begin, :thread_end, :return) { |t| events << t.event if t.method_id != :one }
tp.enable(target_thread: nil) do
  q = Queue.new
  t = Thread.new { q.pop + 1 }
  q << 41
  p t.value
  t = Thread.new { sleep }
  Thread.pass until t.stop?
  t.kill
  p t.join.equal?(t)
  require "timeout"
  begin
    Timeout.timeout(0.05) { loop { } }
  rescue Timeout::Error => e
    p e.class
  end
end
names = Array.new(events.size) { events.pop }
p names.count(:thread_begin) >= 2, names.include?(:thread_end), names.include?(:c_return)

# A block that waits, is killed, or raises in its thread.
t = Thread.new do
  TracePoint.new(:call) { sleep }.enable { Work.new.one(1) }
end
Thread.pass until t.stop?
t.kill.join
p t.status
t = Thread.new do
  Thread.current.report_on_exception = false
  TracePoint.new(:call) { raise "hook" }.enable { Work.new.one(1) }
end
begin
  t.join
rescue => e
  p e.message
end
p Work.new.two(3)
