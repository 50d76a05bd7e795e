def area(width:, height: 2, scale: 1) = width * height * scale
s = 0
6_000_000.times { |i| s += area(width: i, scale: 3) }
puts s
