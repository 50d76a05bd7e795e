# Two threads hand a number back and forth over two queues; prints nanoseconds per round trip.
# block: both wait in Queue#pop. pairs: two such pairs at once. poll: both look until their queue has something, and
# pass, so that both stay busy. burn: a blocking pair beside two threads that only compute.
# usage: pingpong.rb block|pairs|poll|burn N
def now; Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond); end
mode = ARGV[0] || "block"
n = Integer(ARGV[1] || 10_000)

def pair(n)
  there = Queue.new
  back = Queue.new
  echo = Thread.new { n.times { back << there.pop } }
  ask = Thread.new { n.times { |i| there << i; back.pop } }
  [echo, ask]
end

def await(queue)
  Thread.pass while queue.empty?
  queue.pop
end

def polled_pair(n)
  there = Queue.new
  back = Queue.new
  echo = Thread.new do
    n.times { back << await(there) }
  end
  ask = Thread.new do
    n.times do |i|
      there << i
      await(back)
    end
  end
  [echo, ask]
end

def trial(mode, n)
  case mode
  when "pairs" then (pair(n) + pair(n)).each(&:join)
  when "poll" then polled_pair(n).each(&:join)
  else pair(n).each(&:join)
  end
end

done = false
if mode == "burn"
  2.times { Thread.new { x = 1; x = (x * 3 + 1) & 0xffff until done } }
  sleep 0.02
end
trial(mode, [n / 10, 1].max)
from = now
trial(mode, n)
taken = now - from
done = true
puts taken / n.to_f
