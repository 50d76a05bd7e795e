# nodes: 2
# The trace of a segment goes from node to node, and with what is made of it.
S = Kumihimo::Segments
A = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
B = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
one, two = S["node1"], S["node2"]
if S.node == "node2"
  # From here to there and back, by a plain thread and by runs.
  here = S.local
  segment = here.take_segment("a", timeout: 30)
  S.with_trace(segment.trace) { one.put("back", [segment.trace.to_s, segment.trace.tracestate]) }
  S.when(take: "b") { |b| put "run", [b, S.trace.to_s], on: "node1"; put "kept", b }.join
  one.put("kept", here.take_segment("kept").trace.to_s)
  here.take("end", timeout: 30)
  exit
end
here = S.local
S.with_trace(Kumihimo::Trace.new(A, "vendor=1")) { two.put("a", "x") }
p here.take_segment("back", timeout: 30).then { |s| [s.value == [A, "vendor=1"], s.trace.to_s == A, s.trace.tracestate] }
S.with_trace(B) { two.put("b", 1) }
p here.take_segment("run", timeout: 30).then { |s| [s.value == [1, B], s.trace.to_s == B] }, here.take("kept", timeout: 30) == B
# A large one goes another way.
S.with_trace(A) { two.put("large", "x" * 300_000) }
p two.peek_segment("large", timeout: 30).trace.to_s == A, two.take_segment("large", timeout: 30).then { |s| [s.trace.to_s == A, s.value.size] }
# Of a run with inputs on two nodes.
class Both < Kumihimo::CodeSegment
  input :here, take: "c"
  input :there, take: "d", from: "node2"
  def run
    put "e", [here, there], on: "node2"
    put "f", input(:there).trace.to_s
  end
end
here.put("c", 1)
S.with_trace(A) { two.put("d", 2, move: true) }
Both.start.join(timeout: 30)
p two.take_segment("e", timeout: 30).then { |s| [s.value, s.trace.to_s == A] }, here.take_segment("f").then { |s| [s.value == A, s.trace.to_s == A] }
# Without one there is none.
two.put("plain", 1)
p two.take_segment("plain", timeout: 30).trace
two.put("end", 1)
