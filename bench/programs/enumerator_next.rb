e = Enumerator.new { |y| i = 0; loop { y << (i += 1) } }
s = 0
300_000.times { s += e.next }
puts s
