x = 0
10_000_000.times { |i| x += i }
puts x
