# nodes: 2
# What comes with constants that were not named yet, asked for by several threads at a time.
all = 4.times.map { Thread.new { Kumihimo.pmap([1, 2, 3]) { |x| x * 2 } } }.map(&:value)
p all, Kumihimo.all([]) if Kumihimo::Segments.node == "node1"
