# nodes: 2
# Nodes are called by Strings and by Symbols, wherever a program names them.
S = Kumihimo::Segments
def heard = (yield rescue "#{$!.class}: #{$!.message}")
if S.node == "node1"
  p S[:node2].put("a", 1), S.group("both", nodes: %i[node1 node2]).put("b", 2), S.group("prefix", nodes: :node).take("b", timeout: 5)
  p Kumihimo.topology(:ring, nodes: %i[node1 node2]).right, Kumihimo.topology(given: { node1: { far: :node2 }, node2: {} }, nodes: [:node1, "node2"]).far
  p Kumihimo.topology(:tree, nodes: S.nodes, arity: 2**70).children
  p [0, -1, 1.5, nil].map { |arity| heard { Kumihimo.topology(:tree, arity:) } }.uniq
end
p Kumihimo::Cluster.reduce(1, nodes: %i[node1 node2]) { |a, b| a + b } if S.node == "node1"
Kumihimo::Cluster.reduce(1, nodes: %w[node2 node1]) { |a, b| a + b } if S.node == "node2"
