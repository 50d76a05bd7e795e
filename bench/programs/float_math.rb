x = 0.0
i = 0
while i < 10_000_000
  x += Math.sqrt(i) * 1.5 - x / 3.0
  i += 1
end
puts x.round(6)
