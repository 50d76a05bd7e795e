# nodes: 3
# The first node comes last, and its program ends: the others hear what came of it all the same.
C = Kumihimo::Cluster
FIRST = C.self == "node1"
C.barrier
sleep 0.2 if FIRST
all = C.reduce(["x" * 500_000]) { |a, b| a + b }
puts all.size if FIRST
