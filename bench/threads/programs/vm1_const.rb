# A constant read.
times = (25_000_000 * (ARGV[0] || 1).to_f).ceil
ONE = 1
i = 0
i += ONE while i < times
puts i
