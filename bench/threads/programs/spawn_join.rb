# Starts and joins N threads, one after the other (single) or a thousand at a time (batch); prints nanoseconds per thread.
# usage: spawn_join.rb single|batch N
def now; Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond); end
mode = ARGV[0] || "single"
n = Integer(ARGV[1] || 10_000)
n = [n / 1000, 1].max * 1000 if mode == "batch"
work =
  if mode == "batch"
    ->(count) { (count / 1000).times { Array.new(1000) { Thread.new { 1 } }.each(&:join) } }
  else
    ->(count) { count.times { Thread.new { 1 }.join } }
  end
work.call(mode == "batch" ? 1000 : [n / 10, 1].max)
from = now
work.call(n)
puts (now - from) / n.to_f
