# Queues as inputs: every element that was pushed comes out, a nil too, wherever it stands.
require "kumihimo/flow"
require_relative "../support/fiber_scheduler"

def closed(*elements, queue: Queue.new)
  elements.each { |element| queue << element }
  queue.close
end

p Kumihimo.flow(closed).to_a, Kumihimo.flow(closed(nil)).to_a, Kumihimo.flow(closed(1, nil, false, nil, nil)).to_a
p Kumihimo.flow(closed(1, nil, queue: SizedQueue.new(4))).map(&:inspect).to_a
p Kumihimo.flow(closed(3, nil)).union([], all: true).to_a

# One that waits for its elements.
room = SizedQueue.new(1)
giver = Thread.new { closed(1, nil, 2, nil, queue: room) }
p Kumihimo.flow(room).to_a
giver.join
late = Queue.new
reader = Thread.new { Kumihimo.flow(late).to_a }
Thread.pass until late.num_waiting == 1
closed(nil, queue: late)
p reader.value

# Several readers share what there is.
shared = closed(*[nil] * 30, *1..30)
p 3.times.map { Thread.new { Kumihimo.flow(shared).to_a } }.flat_map(&:value).map(&:nil?).tally.sort_by(&:inspect)

# A queue of the program's own is asked by its pop.
class Doubled < Queue
  def pop = super&.*(2)
end
p Kumihimo.flow(closed(1, 2, queue: Doubled.new)).to_a

# Fibers of one thread.
got = nil
Thread.new do
  Fiber.set_scheduler(Scheduler.new)
  queue = Queue.new
  Fiber.schedule { got = Kumihimo.flow(queue).to_a }
  Fiber.schedule { closed(1, nil, queue: queue) }
end.join
p got
