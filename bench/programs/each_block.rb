a = (1..1000).to_a
sum = 0
15_000.times { a.each { |v| sum += v } }
puts sum
