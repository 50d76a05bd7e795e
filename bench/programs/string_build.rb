s = +""
500_000.times { |i| s << "item " << i.to_s << ", " }
puts s.size
