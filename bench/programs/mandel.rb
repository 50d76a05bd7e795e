def iter(cx, cy)
  x = y = 0.0
  n = 0
  while n < 100 && x * x + y * y < 4.0
    x, y = x * x - y * y + cx, 2 * x * y + cy
    n += 1
  end
  n
end
s = 0
400.times { |i| 400.times { |j| s += iter(i / 200.0 - 1.5, j / 200.0 - 1.0) } }
puts s
