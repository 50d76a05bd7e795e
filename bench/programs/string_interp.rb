n = 0
1_000_000.times { |i| n += "#{i}:#{i + 1}-#{n & 7}".size }
puts n
