# Keyword and default arguments.
times = (950_000 * (ARGV[0] || 1).to_f).ceil
def keyed(a, b = 2, c: 3, d: 4) = a + b + c + d
i = 0
sum = 0
while i < times
  sum += keyed(i, c: 1)
  i += 1
end
puts sum
