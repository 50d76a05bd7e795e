# Four threads that want the same mutex.
times = (200_000 * (ARGV[0] || 1).to_f).ceil
lock = Mutex.new
count = 0
Array.new(4) { Thread.new { times.times { lock.synchronize { count += 1 } } } }.each(&:join)
puts count
