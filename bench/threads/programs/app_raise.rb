# Exceptions raised some frames down and rescued.
times = (100_000 * (ARGV[0] || 1).to_f).ceil
def dive(n) = n == 0 ? raise(ArgumentError, "deep") : dive(n - 1)
count = 0
times.times do
  dive(5)
rescue ArgumentError
  count += 1
end
puts count
