a = []
10_000_000.times { |i| a << i }
n = 0
n += a.shift + a.pop while a.size > 5_000_000
puts n, a.first, (a[0, 1000] + a[-1000, 1000]).uniq.size
