# nodes: 3
# Topologies and groups.
S = Kumihimo::Segments
if S.node != "node1"
  S.local.take("end")
  exit
end
ring = Kumihimo.topology
p ring.right, ring.left, ring.neighbours
star = Kumihimo.topology(:star)
p star.center, star.all("leaf"), star.neighbours
tree = Kumihimo.topology(:tree)
p tree.parent, tree.children
p Kumihimo.topology(:line).left, Kumihimo.topology(:line).right
p Kumihimo.topology(:mesh).neighbours
p Kumihimo.topology(:ring, nodes: %w[node1]).neighbours
p Kumihimo.topology(:ring, nodes: %w[node2 node3]).neighbours
begin
  Kumihimo.topology(:circle)
rescue ArgumentError => error
  puts error.message
end

group = S.group("workers")
p group.members
keys = (1..300).map { |i| "key #{i}" }
keys.each_with_index { |key, i| group.put(key, i) }
places = keys.group_by { |key| group.node_of(key) }
p places.keys.sort, places.values.map(&:size).sum, places.values.all? { |of| of.size > 50 }
p keys.each_with_index.all? { |key, i| group.take(key, timeout: 20) == i }
p group.keys
# Without a member only its keys move.
fewer = S.group("workers", nodes: %w[node1 node2])
p keys.all? { |key| group.node_of(key) == "node3" || group.node_of(key) == fewer.node_of(key) }
p S.group("workers", nodes: "node").members.size, S.group("workers", nodes: %w[node3 gone]).node_of("x")
group.update("one", 1)
p group.peek("one"), group.size("one"), group.key("one").take, group.take?("one", :none)
begin
  S.group("nobody", nodes: "worker").put("x", 1)
rescue S::NotConnected => error
  puts error.message
end
%w[node2 node3].each { |node| S[node].put("end", 1) }
