# Resumes a fiber that yields, N times; prints nanoseconds per resume and yield.
# usage: fiber_switch.rb N
def now; Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond); end
n = Integer(ARGV[0] || 100_000)
fiber = Fiber.new { Fiber.yield while true }
(n / 10).times { fiber.resume }
i = 0
from = now
while i < n
  fiber.resume
  i += 1
end
puts (now - from) / n.to_f
