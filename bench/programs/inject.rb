a = (1..1000).to_a
s = 0
15_000.times { s += a.inject(0) { |m, x| m + x } }
puts s
