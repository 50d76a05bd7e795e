# nodes: 2
# Code segments with inputs on two nodes, in both orders: none waits for another for ever.
S = Kumihimo::Segments
class AB < Kumihimo::CodeSegment
  input :a, take: "a", from: "node1"
  input :b, take: "b", from: "node2"
  def run = put("sum", a + b, on: "node1")
end

class BA < Kumihimo::CodeSegment
  input :b, take: "b", from: "node2"
  input :a, take: "a", from: "node1"
  def run = put("sum", a + b, on: "node1")
end

mine = S.node == "node1" ? "a" : "b"
10.times do |round|
  runs = Array.new(20) { (S.node == "node1" ? AB : BA).start }
  # One after the other, so that some wait for the rest.
  40.times { |i| S.local.put(mine, round * 100 + i); sleep 0.001 if i % 10 == 0 }
  runs.each { |run| run.join(timeout: 40) }
end
# A sum is there before the run that put it has given back its inputs: only who started a run sees its end.
if S.node == "node1"
  sums = 400.times.map { S.local.take("sum", timeout: 40) }
  S.local.take("over", timeout: 40)
  p sums.sum == 2 * 10.times.sum { |round| 40.times.sum { |i| round * 100 + i } }
  p S.local.take?("sum"), S.local.size("a"), S["node2"].size("b"), S["node2"].stat("b")[:leased], S.local.stat("a")[:leased]
  S["node2"].put("end", 1)
else
  S["node1"].put("over", 1)
  S.local.take("end")
end
