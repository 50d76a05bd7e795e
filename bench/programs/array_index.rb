n = 400
a = Array.new(n) { |i| Array.new(n) { |j| i ^ j } }
s = 0
100.times do
  i = 0
  while i < n
    row = a[i]
    j = 0
    while j < n
      s += row[j]
      row[j] = s & 255
      j += 1
    end
    i += 1
  end
end
puts s
