# nodes: 3
# One program on all nodes: they meet, share values and work.
C = Kumihimo::Cluster
Kumihimo::Segments.wait_for_nodes(3)
say = ->(*what) { puts(*what.map(&:inspect)) if C.self == "node1" }
say[C.nodes, C.self]
C.barrier
say[C.broadcast(C.self), C.broadcast([C.self, 1], from: "node3")]
say[C.reduce([C.self]) { |a, b| a + b }, C.reduce(C.self.delete_prefix("node").to_i) { |a, b| a * 10 + b }]
mine = C.scatter((1..10).to_a)
say[mine]
say[C.reduce([mine]) { |a, b| a + b }]
say[C.reduce(C.scatter(C.self == "node2" ? %w[a b] : nil, from: "node2")) { |a, b| a + b }]
# The first node is stuck in its first elements until the others have done all that is left. They begin once it is.
class Tally
  include Kumihimo::Remote
  def initialize = (@begun = Thread::Queue.new; @left = Thread::Queue.new)
  def stuck = (@begun.close; nil)
  def done = (@begun.pop; @left << 1; nil)
  def wait(n) = n.times { @left.pop }
end
tally = Kumihimo::Remote.register("tally", Tally.new) if C.self == "node1"
tally ||= Kumihimo::Remote.find("tally", on: "node1")
stuck = false
squares = Kumihimo.pmap(1..60) do |x|
  if C.self == "node1"
    unless stuck
      tally.stuck
      tally.wait(55)
    end
    stuck = true
  else
    tally.done
  end
  [x * x, C.self]
end
say[squares.map(&:first) == (1..60).map { |x| x * x }]
say[squares.count { |_, node| node == "node1" }]
say[Kumihimo.pmap([]) { |x| x }, Kumihimo.pmap([5]) { |x| x + 1 }]
say[(C.reduce(1) rescue $!.class), (C.barrier(nodes: ["node9"]) rescue $!.message)]
if C.self == "node3"
  say[C.barrier(nodes: %w[node2 node3])]
elsif C.self == "node2"
  C.barrier(nodes: %w[node2 node3])
end
C.barrier
