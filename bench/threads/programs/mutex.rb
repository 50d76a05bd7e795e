# THREADS threads add to a counter N times together, each time under the mutex; prints nanoseconds per addition.
# usage: mutex.rb THREADS N
def now; Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond); end
threads = Integer(ARGV[0] || 1)
n = Integer(ARGV[1] || 100_000) / threads
lock = Mutex.new
count = 0
from = now
Array.new(threads) { Thread.new { n.times { lock.synchronize { count += 1 } } } }.each(&:join)
taken = now - from
abort "#{n * threads - count} additions lost" unless count == n * threads
puts taken / (n * threads).to_f
