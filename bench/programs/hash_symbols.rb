h = { a: 1, b: 2, c: 3, d: 4 }
s = 0
8_000_000.times { s += h[:a] + h[:d] }
puts s
