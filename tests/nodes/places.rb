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

# As the program says.
def given(map, **options)
  Kumihimo.topology(**options, given: map)
rescue ArgumentError, TypeError, KeyError => error
  puts "#{error.class}: #{error.message}"
end
map = { "node1" => { right: "node2", "far east" => :node4 }, node2: { "right" => "node1" }, "node4" => {} }
pipe = given(map)
p pipe.right, pipe["right"], pipe[:"far east"], pipe.neighbours, pipe.all(:right), pipe.left rescue puts $!.message
p given({ "node1" => { north: "node3" }, "node3" => {} }).north
p given(map, nodes: %w[node4 node1])["far east"]
begin
  pipe["rihgt"]
rescue KeyError => error
  p error.message, error.key, error.receiver.equal?(pipe)
end
p pipe.respond_to?(:right), pipe.respond_to?(:rihgt), (pipe.rihgt rescue $!.class), (pipe.right(1) rescue $!.class)
given({ "node1" => { right: "node5" } })
given({ "node1" => { right: "node1" } })
given({ "node1" => { right: "" }, "" => {} })
given({ "node1" => { ("x" * 65) => "node2" }, "node2" => {} })
given({ "node2" => {} })
given({})
given({ "node1" => {}, node1: {} })
given({ "node1" => { "a" => "node2", a: "node2" }, "node2" => {} })
given({ "node1" => nil })
given({ "node1" => { right: nil } })
given({ 1 => {} })
given([["node1", []]])
begin
  Kumihimo.topology(:ring, given: map)
rescue ArgumentError => error
  puts error.message
end
p given({ "node1" => { "\xff" => "node2" }, "node2" => {} }).neighbours

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
# It has the calls of a manager.
p S.local.class.public_instance_methods(false) - group.public_methods
p group.put_all("many", 1..300), group.limit("many", 400).export("many").equal?(group), Array.new(300) { group["many"].take } == [*1..300]
watch = group.watch("seen", limit: 5)
group.put("seen", "a")
p watch.next.value
watch.close
begin
  S.group("nobody", nodes: "worker").put("x", 1)
rescue S::NotConnected => error
  puts error.message
end
%w[node2 node3].each { |node| S[node].put("end", 1) }
