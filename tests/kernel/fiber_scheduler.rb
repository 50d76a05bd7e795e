# A fiber scheduler of the user's making: sleep, queues, locks, pipes and joins go through its hooks.
require_relative "../support/fiber_scheduler"

log = Queue.new
t = Thread.new do
  Fiber.set_scheduler(Scheduler.new)
  q = Queue.new
  gate = Queue.new
  m = Mutex.new
  r, w = IO.pipe
  Fiber.schedule { log << :a1; sleep 0.03; log << :a2; q << 1 }
  Fiber.schedule { log << :b1; log << q.pop; log << :b2 }
  Fiber.schedule { m.synchronize { sleep 0.02; log << :m1 } }
  Fiber.schedule { m.synchronize { log << :m2 } }
  Fiber.schedule { log << r.read(2) }
  Fiber.schedule { sleep 0.04; w << "hi" }
  Fiber.schedule { log << Thread.new { gate.pop; :v }.value }
  Fiber.schedule { log << [Fiber.current_scheduler.class, Fiber.current.blocking?] }
  log << :end
  gate << 1
end
t.join
all = Array.new(log.size) { log.pop }
p all.first(4), all.map(&:inspect).sort
order = ->(*names) { names.map { |n| all.index(n) }.then { |l| l == l.sort } }
p order.(:a1, :a2, 1, :b2), order.(:m1, :m2)

# Of several descriptors the one that comes first ends the wait; the thread's other fibers go on meanwhile.
said = []
Thread.new do
  Fiber.set_scheduler(Scheduler.new)
  a, wa = IO.pipe
  b, wb = IO.pipe
  Fiber.schedule { said << :waits; said << (IO.select([a, b], nil, nil, 20).first == [b]) << IO.select([a, b], [wa]).map(&:size) }
  Fiber.schedule { said << :other; sleep 0.01; wb << "x" }
end.join
p said
