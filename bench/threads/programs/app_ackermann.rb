# Ackermann's function: deep recursion of a method.
times = (800 * (ARGV[0] || 1).to_f).ceil
def ack(m, n) = m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1))
sum = 0
times.times { sum += ack(2, 70) }
puts sum
