def counter
  n = 0
  -> { n += 1 }
end
c = counter
8_000_000.times { c.call }
puts c.call
