# Array iterators with blocks.
times = (20_000 * (ARGV[0] || 1).to_f).ceil
list = (1..100).to_a
sum = 0
times.times { sum += list.map { |x| x * 2 }.select { |x| x % 3 == 0 }.inject { |a, b| a + b } }
puts sum
