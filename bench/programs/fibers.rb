f = Fiber.new { n = 0; loop { Fiber.yield(n += 1) } }
s = 0
4_000_000.times { s += f.resume }
puts s
