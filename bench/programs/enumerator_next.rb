e = Enumerator.new { |y| i = 0; loop { y << (i += 1) } }
s = 0
1_500_000.times { s += e.next }
puts s
