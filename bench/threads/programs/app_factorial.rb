# Factorials by recursion: methods and big integers.
times = (850 * (ARGV[0] || 1).to_f).ceil
def fact(n) = n > 1 ? n * fact(n - 1) : 1
sum = 0
times.times { sum += fact(900).bit_length }
puts sum
