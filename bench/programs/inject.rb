a = (1..1000).to_a
s = 0
1500.times { s += a.inject(0) { |m, x| m + x } }
puts s
