# Fibonacci numbers by double recursion.
times = (200 * (ARGV[0] || 1).to_f).ceil
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
sum = 0
times.times { sum += fib(22) }
puts sum
