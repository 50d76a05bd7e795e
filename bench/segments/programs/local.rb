# Hands values over on one node; prints nanoseconds of one step.
# One thread puts and takes: key, string (segments, by the key's object or its name), update, peek, queue, ractor, rinda.
# Two threads hand a number there and back: pair-key, pair-queue, pair-ractor.
# usage: local.rb MODE N
def now; Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond); end

mode = ARGV[0] || "key"
n = Integer(ARGV[1] || 10_000)

# A step of one thread's, done so many times.
def alone(mode)
  case mode
  when "key"
    key = Kumihimo::Segments.local.key("n")
    ->(n) { n.times { |i| key.put(i); key.take } }
  when "string"
    ds = Kumihimo::Segments.local
    ->(n) { n.times { |i| ds.put("n", i); ds.take("n") } }
  when "update"
    key = Kumihimo::Segments.local.key("n")
    ->(n) { n.times { |i| key.update(i) } }
  when "peek"
    key = Kumihimo::Segments.local.key("n")
    key.put(1)
    ->(n) { n.times { key.peek } }
  when "queue"
    queue = Queue.new
    ->(n) { n.times { |i| queue << i; queue.pop } }
  when "ractor"
    if defined?(Ractor::Port)
      port = Ractor::Port.new
      ->(n) { n.times { |i| port.send(i); port.receive } }
    else
      own = Ractor.current
      ->(n) { n.times { |i| own.send(i); Ractor.receive } }
    end
  when "rinda"
    space = Rinda::TupleSpace.new
    ->(n) { n.times { |i| space.write([:n, i]); space.take([:n, nil]) } }
  end
end

# Two threads and what hands over: a pair of [put, take] for there and one for back.
def pair(there, back)
  lambda do |n|
    echo = Thread.new { n.times { back[0].(there[1].()) } }
    ask = Thread.new { n.times { |i| there[0].(i); back[1].() } }
    [echo, ask].each(&:join)
  end
end

def segment_ways
  %w[there back].map do |name|
    key = Kumihimo::Segments.local.key(name)
    [->(v) { key.put(v) }, -> { key.take }]
  end
end

def queue_ways
  Array.new(2) do
    queue = Queue.new
    [->(v) { queue << v }, -> { queue.pop }]
  end
end

def ractors(n)
  if defined?(Ractor::Port)
    back = Ractor::Port.new
    echo = Ractor.new(back, n) { |port, count| count.times { port.send(Ractor.receive) } }
    n.times { |i| echo.send(i); back.receive }
  else
    echo = Ractor.new(Ractor.current, n) { |main, count| count.times { main.send(Ractor.receive) } }
    n.times { |i| echo.send(i); Ractor.receive }
  end
end

$VERBOSE = nil
case mode
when "key", "string", "update", "peek", "pair-key" then require "kumihimo/segments"
when "rinda" then require "rinda/tuplespace"
end
step =
  case mode
  when "pair-key" then pair(*segment_ways)
  when "pair-queue" then pair(*queue_ways)
  when "pair-ractor" then method(:ractors)
  else alone(mode) || abort("local.rb: no mode #{mode}")
  end
step.([n / 10, 1].max)
from = now
step.(n)
puts (now - from) / n.to_f
$stdout.flush
exit!(0)
