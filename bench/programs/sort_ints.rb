r = Random.new(1)
a = Array.new(200_000) { r.rand(1_000_000) }
puts a.sort[1000], a.sort { |x, y| y <=> x }[1000], a.sort_by { |x| -x }[1000], a.max, a.sum
