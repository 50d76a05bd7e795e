h = {}
1_000_000.times { |i| h[i * 7] = i }
s = 0
2_000_000.times { |i| s += h[i] || 1 }
puts s, h.size
