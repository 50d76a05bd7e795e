# Killing and raising into threads: in ensure, in locks, while parked in queues, sleep, join and IO.
def asleep(t)
  Thread.pass until t.stop?
  t
end
quiet = ->(&b) { Thread.new { Thread.current.report_on_exception = false; b.call } }

# a kill runs ensure, and rescue does not see it
log = []
t = Thread.new do
  begin
    sleep
  rescue Exception
    log << :rescued
  ensure
    log << :ensured
  end
end
asleep(t).kill
p t.join.equal?(t), t.value, t.status, t.alive?, log

# an exception sent to a sleeping, a joining, a locking, a popping, a reading thread
m = Mutex.new.lock
q = Queue.new
sq = SizedQueue.new(1) << 1
r, w = IO.pipe
never = Thread.new { sleep }
waits = {
  sleep: -> { sleep }, sleep_long: -> { sleep 100 }, stop: -> { Thread.stop }, join: -> { never.join },
  lock: -> { m.lock }, pop: -> { q.pop }, pop_timeout: -> { q.pop(timeout: 50) }, push: -> { sq << 2 },
  read: -> { r.read(1) }, select: -> { IO.select([r]) }, value: -> { never.value }
}
waits.each do |name, wait|
  t = quiet.() do
    begin
      wait.call
    rescue IndexError => e
      [name, e.class, e.message]
    end
  end
  asleep(t).raise(IndexError, "sent")
  p t.value
end
p q.num_waiting, sq.num_waiting, m.locked?
never.kill.join
m.unlock

# what was not taken by a killed waiter goes to the next one
a = Thread.new { q.pop }
asleep(a)
b = Thread.new { q.pop }
asleep(b)
a.kill.join
q << :for_b
p b.value

# a lock is free when its owner dies, and whoever waits gets it
m = Mutex.new
owner = Thread.new { m.lock; sleep }
asleep(owner)
heir = Thread.new { m.lock; m.owned? }
asleep(heir)
owner.kill.join
p heir.value, m.locked?

# killed while waiting to get a lock back after Mutex#sleep and ConditionVariable#wait
[->(mu) { mu.sleep }, ->(mu) { ConditionVariable.new.wait(mu) }].each do |wait|
  mu = Mutex.new
  owned = nil
  t = Thread.new do
    mu.synchronize do
      begin
        wait.call(mu)
      ensure
        owned = mu.owned?
      end
    end
  end
  asleep(t)
  mu.synchronize do
    t.kill
    Thread.pass
  end
  t.join
  p owned, mu.locked?
end

# kill in ensure: the rest of that ensure runs no more, outer ones do
log = []
t = Thread.new do
  begin
    begin
      sleep
    ensure
      log << :in
      Thread.current.kill
      log << :not
    end
  ensure
    log << :out
  end
end
asleep(t).kill
t.join
p log

# an exception in ensure replaces a kill
t = quiet.() do
  begin
    begin
      sleep
    ensure
      raise "from ensure"
    end
  rescue => e
    e.message
  end
end
asleep(t).kill
p t.value

# one after the other, and two at once: taken in the order they came
seen = []
t = Thread.new do
  2.times do
    begin
      sleep
    rescue => e
      seen << e.message
    end
  end
end
asleep(t).raise("first")
Thread.pass until seen.size == 1
asleep(t).raise("second")
t.join
p seen

t = quiet.() do
  got = []
  Thread.handle_interrupt(StandardError => :never) do
    sleep 0.01 until Thread.pending_interrupt?(KeyError)
    2.times do
      begin
        Thread.handle_interrupt(StandardError => :immediate) { sleep }
      rescue => e
        got << e.class
      end
    end
  end
  got
end
asleep(t).raise(IndexError)
t.raise(KeyError)
p t.value

# raising into dead and into running threads, into oneself
p t.raise("late")
on = false
t = quiet.() { begin; loop { on = true; Thread.pass }; rescue => e; e.message; end }
Thread.pass until on
t.raise("running")
p t.value
begin
  Thread.current.raise(KeyError, "own")
rescue => e
  p e.class, e.message
end
begin
  raise "cause"
rescue
  t = asleep(quiet.() { begin; sleep; rescue => e; [e.message, e.cause&.message]; end })
  t.raise("effect")
end
p t.value

# handle_interrupt: nearest class, nearest mask, :on_blocking, pending_interrupt?
class Far < StandardError; end
class Near < Far; end
sent = Queue.new
t = quiet.() do
  got = []
  begin
    Thread.handle_interrupt(Far => :never) do
      Thread.handle_interrupt(Near => :immediate) do
        begin
          sleep
        rescue Near
          got << :near
        end
      end
      sent.pop
      got << Thread.pending_interrupt? << Thread.pending_interrupt?(Near)
    end
  rescue Far => e
    got << e.class
  end
  got
end
asleep(t).raise(Near)
Thread.pass until t.stop?
t.raise(Far)
sent << true
p t.value
on = false
t = quiet.() do
  Thread.handle_interrupt(RuntimeError => :on_blocking) do
    begin
      on = true
      n = 0
      n += 1 until Thread.pending_interrupt?
      Thread.pass
      Queue.new.pop
    rescue => e
      e.message
    end
  end
end
Thread.pass until on
t.raise("at the pop")
p t.value
begin
  Thread.handle_interrupt(RuntimeError => :sometimes) {}
rescue ArgumentError => e
  p e.message
end

# in fibers
t = quiet.() do
  begin
    Fiber.new { begin; sleep; ensure; $in_fiber = true; end }.resume
  rescue => e
    [e.message, $in_fiber]
  end
end
asleep(t).raise("through the fiber")
p t.value

# closing what others wait for
t = quiet.() { begin; r.read; rescue IOError => e; e.message; end }
asleep(t)
r.close
p t.value
t = Thread.new { q.pop }
asleep(t)
q.close
p t.value
t = quiet.() { begin; sq << 3; rescue ClosedQueueError => e; e.message; end }
asleep(t)
sq.close
p t.value, sq.pop, sq.pop

# what a time limit sends, and what has an `exception` of its own, held back
require "timeout"
class Own < StandardError
  def exception(*) = @given ? self : Own.new("by itself").tap { |e| e.instance_variable_set(:@given, true) }
end
begin
  Timeout.timeout(0.05, IOError, "too long") { Thread.handle_interrupt(IOError => :never) { sleep 0.1 }; sleep }
rescue IOError => e
  p e
end
t = quiet.() do
  begin
    Thread.handle_interrupt(StandardError => :never) { $held = true; Thread.pass until Thread.pending_interrupt? }
    sleep
  rescue => e
    p e
  end
end
Thread.pass until $held
t.raise(Own)
t.join
