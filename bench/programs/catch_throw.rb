n = 0
500_000.times { |i| n += catch(:done) { throw :done, i & 3 } }
puts n
