# The trace on whose behalf segments are put: it goes with them, and with what is made of them.
require "kumihimo/segments"
S = Kumihimo::Segments
ds = S.local
A = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
B = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"

p S.trace
ds.put("k", 1)
p ds.take_segment("k").trace
S.trace = A
p S.trace.to_s == A, S.trace.id, S.trace.parent, S.trace.sampled?, S.trace.tracestate
ds.put("k", 2)
ds.key("k").put(3, move: true)
ds.update("other", 4)
ds.put("k", [5], move: true, ttl: 100)
S.trace = nil
ds.put("k", 6)
p ds.peek_segment("k").trace.to_s == A, 4.times.map { ds.take_segment("k").trace&.parent }, ds.take_segment("other").trace.to_s == A

# Threads and fibers that are started have it; others not; a block has its own.
S.with_trace(Kumihimo::Trace.new(B, "vendor=1")) do
  p Thread.new { S.trace.to_s == B }.value, Fiber.new { S.trace.tracestate }.resume
  S.with_trace(nil) { ds.put("k", 1) }
  ds.put("k", 2)
end
p S.trace, 2.times.map { ds.take_segment("k").trace&.tracestate }

# A run has that of what it takes, and so have its outputs.
class Step < Kumihimo::CodeSegment
  input :rate, peek: "rate"
  input :order, take: "order"
  def run
    put "bill", order * rate
    put "own", S.trace&.to_s
    S.with_trace(B) { put "others", 1 }
    flip :order, to: "flipped"
  end
end
S.with_trace(B) { ds.put("rate", 10) }
S.with_trace(A) { ds.put("order", 5) }
Step.start.join
p ds.take_segment("bill").trace.to_s == A, ds.take("own") == A, ds.take_segment("others").trace.to_s == B, ds.take_segment("flipped").trace.to_s == A
# The next one has none of it.
ds.put("order", 5)
step = Step.start.join
p ds.take_segment("bill").trace, ds.take("own"), ds.take_segment("flipped").trace
2.times { ds.take?("others") }
S.with_trace(A) { ds.put("in", 1) }
seen = S.when(take: "in") { |x| put "out", input("in").trace.to_s; put "here", S.trace.to_s }
seen.join
p ds.take("out") == A, ds.take_segment("here").then { |s| [s.value == A, s.trace.to_s == A] }
# What comes back keeps it.
S.with_trace(A) { ds.put("fails", 1) }
$stderr = File.open(File::NULL, "w")
S.when(take: "fails") { raise "never mind" }.join rescue p $!.message
$stderr = STDERR
p ds.take_segment("fails").then { |s| [s.trace.to_s == A, s.deliveries] }
S.with_trace(A) { ds.put("fails", [2], move: true) }
$stderr = File.open(File::NULL, "w")
S.when(take: "fails") { |x| raise "never mind" }.join rescue p $!.message
$stderr = STDERR
p ds.take_segment("fails").then { |s| [s.trace.to_s == A, s.deliveries, s.value] }

# Wrong ones.
["", "00", A.upcase, A.sub("0af", "0zf"), A.tr("0-9a-f", "0"), A + "x", "ff" + A[2..], "\xff" * 55].each do |text|
  S.trace = text
  puts "taken: #{text}"
rescue ArgumentError => error
  puts "ArgumentError"
end
[1, :a, [1], [A, 2], Object].each do |x|
  S.trace = x
  puts "taken: #{x}"
rescue TypeError, ArgumentError => error
  puts error.class
end
begin
  Kumihimo::Trace.new(A, "x" * 600)
rescue ArgumentError
  puts "too long a state"
end
p S.trace, Kumihimo::Trace.new(A).frozen?, Kumihimo::Trace.new(A) == Kumihimo::Trace.new(A), Ractor.shareable?(Kumihimo::Trace.new(A, "a=1"))
