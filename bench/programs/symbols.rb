keys = %w[alpha beta gamma delta].map(&:to_sym)
n = 0
8_000_000.times { |i| n += 1 if keys[i & 3] == :gamma }
puts n
