# Rest arguments collected and spread.
times = (1_500_000 * (ARGV[0] || 1).to_f).ceil
def spread(a, b, c) = a + b + c
def collect(*list) = spread(*list)
i = 0
sum = 0
while i < times
  sum += collect(i, 1, 2)
  i += 1
end
puts sum
