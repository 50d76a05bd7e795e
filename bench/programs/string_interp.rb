n = 0
2_500_000.times { |i| n += "#{i}:#{i + 1}-#{n & 7}".size }
puts n
