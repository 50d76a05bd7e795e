# nodes: 2
# The calls of another node's manager.
require_relative "../support/calls"
S = Kumihimo::Segments
here = S.local
if S.node == "node2"
  # Answers what waits, and ends when it is told.
  Thread.new { loop { key = here.take("asked"); sleep 0.05; here.put(key, "answer to #{key}") } }
  here.take("end")
  exit
end
there = S["node2"]

show("names") { [S.node, S.nodes, S["node1"].equal?(here), there, there.key("k")] }
calls(there, there) { |key| there.put("asked", key) }
show("a watch") { there.watch("k").close }
show("an unknown node") { S["nowhere"].put("k", 1) }
show("twice a node") { S.listen("node3") }
there.put("end", 1)
