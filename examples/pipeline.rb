# Three threads and two queues: numbers flow through, the last stage prints.
numbers = Queue.new
squares = Queue.new

producer = Thread.new do
  1.upto(5) { |n| numbers << n }
  numbers.close
end
worker = Thread.new do
  while (n = numbers.pop)
    squares << n * n
  end
  squares.close
end

while (s = squares.pop)
  puts s
end
[producer, worker].each(&:join)
