# A producer and a consumer on a bounded queue.
times = (750_000 * (ARGV[0] || 1).to_f).ceil
queue = SizedQueue.new(16)
producer = Thread.new { times.times { |i| queue << i }; queue << nil }
sum = 0
while (x = queue.pop)
  sum += x
end
producer.join
puts sum
