# A wait that a pending interrupt ends before it begins takes no wake-up from others.
class E1 < StandardError; end

# `wait` is what a thread begins with the interrupt pending; it rescues that and computes on.
def gives_up(wait)
  go, spin = false, true
  t = Thread.new do
    Thread.handle_interrupt(E1 => :on_blocking) do
      go = true
      Thread.pass until Thread.current.pending_interrupt?
      wait.call
    rescue E1
    end
    Thread.current[:gave_up] = true
    Thread.pass while spin
  end
  Thread.pass until go
  t.raise(E1)
  Thread.pass until t[:gave_up]
  yield.tap { spin = false; t.join }
end

q = Thread::Queue.new
p gives_up(-> { q.pop }) { t = Thread.new { q.pop }; Thread.pass until t.stop?; q << 1; t.join(10) && t.value }
s = Thread::SizedQueue.new(1)
s << 0
p gives_up(-> { s << 1 }) { t = Thread.new { s << 2; :put }; Thread.pass until t.stop?; s.pop; t.join(10) && t.value }
m, c = Thread::Mutex.new, Thread::ConditionVariable.new
p gives_up(-> { m.synchronize { c.wait(m) } }) { t = Thread.new { m.synchronize { c.wait(m); :heard } }; Thread.pass until t.stop?; m.synchronize { c.signal }; t.join(10) && t.value }
