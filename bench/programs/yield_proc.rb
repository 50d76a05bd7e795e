def twice = yield(1) + yield(2)
pr = proc { |x| x + 1 }
n = 0
5_000_000.times { n += twice { |x| x * 2 } + pr.call(3) }
puts n
