# Array and Hash elements.
times = (10_000_000 * (ARGV[0] || 1).to_f).ceil
a = [1, 2, 3, 4]
h = { a: 1, b: 2 }
i = 0
while i < times
  a[i & 3] = h[:b]
  i += 1
end
puts a.sum
