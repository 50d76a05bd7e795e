# Takeuchi's function: three-argument recursion.
times = (150 * (ARGV[0] || 1).to_f).ceil
def tak(x, y, z) = y < x ? tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) : z
sum = 0
times.times { sum += tak(14, 8, 2) }
puts sum
