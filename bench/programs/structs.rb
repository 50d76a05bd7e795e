P3 = Struct.new(:x, :y, :z)
s = 0
2_500_000.times do |i|
  p = P3.new(i, 1, 2)
  p.x += p.y
  s += p.x + p.z
end
puts s
