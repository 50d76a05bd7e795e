n = 0
500.times { n += (1..Float::INFINITY).lazy.map { |x| x * 2 }.select { |x| x % 3 == 0 }.first(3000).sum }
puts n
