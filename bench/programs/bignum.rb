f = 1
1.upto(12_000) { |i| f *= i }
a, b = 0, 1
200_000.times { a, b = b, a + b }
puts f.to_s.size, a.to_s.size, 3.pow(100_000, 10**50)
