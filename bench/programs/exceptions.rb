n = 0
1_000_000.times do |i|
  raise ArgumentError, "odd" if i.odd?
  n += 1
rescue ArgumentError => e
  n += e.message.size
ensure
  n += 1
end
puts n
