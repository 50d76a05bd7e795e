# A queue filled and emptied by one thread.
times = (950_000 * (ARGV[0] || 1).to_f).ceil
queue = Queue.new
i = 0
while i < times
  queue << i
  queue.pop
  i += 1
end
puts i
