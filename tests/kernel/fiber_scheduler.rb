# A fiber scheduler of the user's making: sleep, queues, locks, pipes and joins go through its hooks.
class Sched
  def initialize; @ready = []; @waiting = {}; @io = {}; @lock = Mutex.new; @blocked = 0; @urgent = IO.pipe; end
  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  def run
    until @ready.empty? && @waiting.empty? && @io.empty? && @blocked == 0
      t = @waiting.values.min
      timeout = @ready.empty? ? (t ? [t - now, 0].max : (@io.empty? && @blocked == 0 ? 0 : nil)) : 0
      r, = IO.select(@io.keys + [@urgent[0]], nil, nil, timeout)
      if r&.include?(@urgent[0]); @urgent[0].read_nonblock(100); r.delete(@urgent[0]); end
      r&.each { |io| @io.delete(io).resume }
      list = @lock.synchronize { x = @ready; @ready = []; x }
      list.each { |f| @waiting.delete(f); f.resume if f.alive? }
      n = now
      @waiting.select { |_, x| x <= n }.each { |f, _| @waiting.delete(f); f.resume }
    end
  end
  def close = run
  def block(b, timeout = nil)
    f = Fiber.current
    timeout ? @waiting[f] = now + timeout : @blocked += 1
    Fiber.yield
    @blocked -= 1 unless timeout
    true
  end
  def unblock(b, f) = (@lock.synchronize { @ready << f }; @urgent[1].write("."))
  def kernel_sleep(d = nil) = (@waiting[Fiber.current] = now + d; Fiber.yield)
  def io_wait(io, ev, timeout) = (@io[io] = Fiber.current; Fiber.yield; ev)
  def fiber(&b) = Fiber.new(blocking: false, &b).tap(&:resume)
  def fiber_interrupt(*) = nil
end
log = Queue.new
t = Thread.new do
  Fiber.set_scheduler(Sched.new)
  q = Queue.new
  m = Mutex.new
  r, w = IO.pipe
  Fiber.schedule { log << :a1; sleep 0.03; log << :a2; q << 1 }
  Fiber.schedule { log << :b1; log << q.pop; log << :b2 }
  Fiber.schedule { m.synchronize { sleep 0.02; log << :m1 } }
  Fiber.schedule { m.synchronize { log << :m2 } }
  Fiber.schedule { log << r.read(2) }
  Fiber.schedule { sleep 0.04; w << "hi" }
  Fiber.schedule { log << Thread.new { sleep 0.01; :v }.value }
  Fiber.schedule { log << [Fiber.current_scheduler.class, Fiber.current.blocking?] }
  log << :end
end
t.join
all = Array.new(log.size) { log.pop }
p all.first(4), all.map(&:inspect).sort
order = ->(*names) { names.map { |n| all.index(n) }.then { |l| l == l.sort } }
p order.(:a1, :a2, 1, :b2), order.(:m1, :m2)

# Of several descriptors the one that comes first ends the wait; the thread's other fibers go on meanwhile.
said = []
Thread.new do
  Fiber.set_scheduler(Sched.new)
  a, wa = IO.pipe
  b, wb = IO.pipe
  Fiber.schedule { said << :waits; said << (IO.select([a, b], nil, nil, 20).first == [b]) << IO.select([a, b], [wa]).map(&:size) }
  Fiber.schedule { said << :other; sleep 0.01; wb << "x" }
end.join
p said
