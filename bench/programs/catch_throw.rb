n = 0
2_000_000.times { |i| n += catch(:done) { throw :done, i & 3 } }
puts n
