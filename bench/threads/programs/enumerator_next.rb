# Takes N values from an external enumerator (block: from an Enumerator.new block, array: from Array#each);
# prints nanoseconds per Enumerator#next.
# usage: enumerator_next.rb block|array N
def now; Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond); end
n = Integer(ARGV[1] || 100_000)
e = ARGV[0] == "array" ? Array.new(n + 1, 1).each : Enumerator.new { |y| y << 1 while true }
e.next
i = 0
from = now
while i < n
  e.next
  i += 1
end
puts (now - from) / n.to_f
