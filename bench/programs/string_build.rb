s = +""
3_000_000.times { |i| s << "item " << i.to_s << ", " }
puts s.size
