# nodes: 1
# A program that names nodes runs on one node, and without any, as well.
S = Kumihimo::Segments
class Step < Kumihimo::CodeSegment
  input :a, take: "a", from: "node1"
  def run = put("b", a + 1, on: "node1")
end
S.local.put("a", 1)
Step.start.join(timeout: 20)
p S.local.take("b", timeout: 20), S.nodes
