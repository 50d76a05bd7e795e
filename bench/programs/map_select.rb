a = (1..1000).to_a
n = 0
5000.times { n += a.map { |x| x * 3 }.select { |x| x.even? }.reject { |x| x % 5 == 0 }.size }
puts n
