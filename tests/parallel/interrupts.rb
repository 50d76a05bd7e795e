# Storms of raise and kill: every ensure runs once, and what is left is whole.
require "timeout"
class Ping < StandardError; end

begun = Queue.new
ended = Queue.new
ts = 40.times.map do |i|
  Thread.new do
    Thread.current.report_on_exception = false
    begin
      begun << i
      case i % 5
      when 0 then sleep
      when 1 then loop { Thread.pass }
      when 2 then Queue.new.pop
      when 3 then Mutex.new.synchronize { ConditionVariable.new.wait(Mutex.new.tap(&:lock)) }
      else loop { [3, 1, 2].sort.map { |x| x + 1 } }
      end
    ensure
      ended << i
    end
  end
end
Thread.pass until begun.size == 40
ts.each_with_index { |t, i| i.even? ? t.kill : t.raise(Ping) }
ends = ts.map { |t| begin; t.join; :killed; rescue Ping; :raised; end }
p [:ensures, ended.size, 40.times.map { ended.pop }.uniq.size, ends.tally]

# Rescued and retried.
count = Queue.new
goal = 12
ts = 4.times.map do
  Thread.new do
    n = 0
    begin
      sleep
    rescue Ping
      n += 1
      count << 1
      retry if n < goal
    end
    n
  end
end
until ts.none?(&:alive?)
  ts.each { |t| t.raise(Ping) if t.alive? && t.stop? }
  Thread.pass
end rescue nil
p [:retries, ts.map { |t| begin; t.value; rescue Ping; goal; end }.uniq, count.size >= 4 * goal]

# Held back, then delivered.
ts = 10.times.map do
  Thread.new do
    steps = []
    begin
      Thread.handle_interrupt(Ping => :never) do
        Thread.current[:in] = true
        Thread.pass until Thread.pending_interrupt?
        steps << :finished
      end
      steps << :never_here
    rescue Ping
      steps << :then
    end
    steps
  end
end
ts.each { |t| Thread.pass until t[:in]; t.raise(Ping) }
p [:masked, ts.map(&:value).uniq]

# Killed while they hold a lock: the lock is free again, and the count fits.
m = Mutex.new
strange = 0
60.times do
  n = 0
  t = Thread.new { loop { m.synchronize { begin; n += 1; Thread.pass; ensure; strange += 1 unless m.owned?; end } } }
  Thread.pass until n > 0
  t.kill
  t.join
end
p [:locks, strange, m.locked?]

# Kill in ensure, kill twice, kill oneself, kill the dead.
r = 20.times.map do
  out = []
  t = Thread.new { begin; sleep; ensure; out << 1; Thread.pass; out << 2; end }
  Thread.pass until t.stop?
  2.times { t.kill }
  t.join
  t.kill
  out
end
p [:twice, r.uniq]
p [:self, Thread.new { begin; Thread.current.kill; ensure; Thread.current[:x] = 1; end; 5 }.tap(&:join).then { |t| [t.value, t.status] }]

# Timeouts in many threads: the long ones are cut, the short ones are not.
r = 20.times.map do |i|
  Thread.new do
    begin
      Timeout.timeout(i.even? ? 0.02 : 20) { i.even? ? sleep : Thread.pass; :done }
    rescue Timeout::Error
      :cut
    end
  end
end.map(&:value)
p [:timeouts, r.each_slice(2).to_a.uniq]
r = 6.times.map { Thread.new { begin; Timeout.timeout(0.03) { n = 0; loop { n += 1 } }; rescue Timeout::Error => e; e.message; end } }.map(&:value)
p [:busy, r.uniq]
r = 6.times.map { Thread.new { begin; Timeout.timeout(30) { Timeout.timeout(0.01, Ping) { sleep } }; rescue Ping; :inner; end } }.map(&:value)
p [:nested, r.uniq]

# Exceptions carry the backtrace of their own thread.
def deep(n, t) = n == 0 ? raise(Ping, "from #{t}") : deep(n - 1, t)
r = 8.times.map { |t| Thread.new { 20.times.map { begin; deep(t + 1, t); rescue Ping => e; [e.message, e.backtrace.grep(/deep/).size]; end }.uniq } }.map(&:value)
p [:backtraces, r.each_with_index.all? { |x, t| x == [["from #{t}", t + 2]] }]
r = 6.times.map { |t| Thread.new { 100.times.map { |i| catch(:out) { 3.times { |k| throw :out, [t, i] if k == 1 }; nil } }.uniq.size } }.map(&:value)
p [:throw, r]
r = 6.times.map { |t| Thread.new { 50.times.sum { begin; Integer("x#{t}"); rescue ArgumentError => e; $!.equal?(e) ? 1 : 0; ensure; $!; end } } }.map(&:value)
p [:errinfo, r]

# wakeup and run.
t = Thread.new { 30.times { Thread.stop }; :through }
while t.alive?
  begin
    t.wakeup if t.stop?
  rescue ThreadError
  end
  Thread.pass
end
p [:wakeup, t.value]
r = 10.times.map { Thread.new { sleep } }
Thread.pass until r.all?(&:stop?)
r.each(&:run)
p [:run, r.map { |t| t.value.class }.uniq]
# A storm on one thread that does not care.
t = Thread.new { n = 0; begin; begin; loop { Thread.pass }; rescue Ping; n += 1; end while n < 50; rescue Ping; retry; end; n }
Thread.pass
5.times.map { Thread.new { while t.alive?; t.raise(Ping); Thread.pass; end } }.each(&:join)
p [:storm, begin; t.value >= 50; rescue Ping; true; end]
