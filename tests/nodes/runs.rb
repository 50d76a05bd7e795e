# nodes: 3
# Code segments over nodes: what a run puts, what comes back of one that fails, and what it costs nobody else.
S = Kumihimo::Segments
here = S.local
if S.node != "node1"
  here.take("end")
  exit
end
two, three = S["node2"], S["node3"]

class Join < Kumihimo::CodeSegment
  input :left, take: "left", from: "node2"
  input :right, take: "right", from: "node3"
  def run
    put "joined", [left, right]
    put "count", left.size, on: "node2"
    raise ArgumentError, "left is empty" if left.empty?
  end
end

two.put("left", [1]); three.put("right", [2])
Join.start.join(timeout: 20)
p here.take("joined", timeout: 20), two.take("count", timeout: 20)

# One that raises puts nothing, and gives back the inputs of both nodes.
two.put("left", []); three.put("right", [3], move: true)
begin
  $stderr = StringIO.new if require "stringio"
  Join.start.join(timeout: 20)
rescue ArgumentError => error
  p error.message
ensure
  $stderr = STDERR
end
p here.take?("joined"), two.take?("count")
p two.take_segment("left", timeout: 20).deliveries >= 2, three.take_segment("right", timeout: 20).changed?

# Dead letters.
class Careful < Join
  dead_letters "dead", tries: 2
end
two.put("left", []); three.put("right", [4])
2.times { Careful.start.join(timeout: 20) rescue p $!.class }
letter = here.take("dead", timeout: 20)
p letter
p two.size("left"), three.size("right"), two.stat("left")[:leased]

# What waits can be cancelled, also when a part is there already.
two.put("left", [5])
waits = Join.start
sleep 0.05
p waits.cancel, waits.cancel, waits.ended?
p two.take("left", timeout: 20)

# An owned input goes on to another node.
class Move < Kumihimo::CodeSegment
  input :list, take: "list", from: "node2"
  def run
    list.sort!
    flip :list, to: "sorted", on: "node3"
  end
end
two.put("list", [3, 1, 2], move: true)
Move.start.join(timeout: 20)
p three.take_segment("sorted", timeout: 20)

# Peeks stay, and an owned segment is not shared.
class Look < Kumihimo::CodeSegment
  input :rate, peek: "rate", from: "node3"
  input :order, take: "order", from: "node2"
  def run = put("bill", order * rate)
end
three.update("rate", 10)
two.key("order").from([1, 2, 3])
3.times { Look.start.join(timeout: 20) }
p 3.times.sum { here.take("bill", timeout: 20) }, three.size("rate")
three.update("rate", [1], move: true)
two.put("order", 7)
begin
  $stderr = StringIO.new
  Look.start.join(timeout: 20)
rescue S::NotShared => error
  p error.class
ensure
  $stderr = STDERR
end
p two.take("order", timeout: 20)

# Repeated until enough, four at a time.
class Work < Kumihimo::CodeSegment
  input :n, take: "n", from: "node2"
  def run = put("square", n * n, on: "node3")
end
two.key("n").from(1..50)
done = 0
lock = Mutex.new
Work.repeat(parallel: 4) { lock.synchronize { (done += 1) >= 50 } }.join(timeout: 40)
p 50.times.sum { three.take("square", timeout: 20) } == (1..50).sum { |n| n * n }

# Keys at run time.
class Later < Kumihimo::CodeSegment
  input :value, take: nil
  def run = put("later", value)
end
segment = Later.new
segment.set_key(:value, "some", from: "node3").start
three.put("some", 8)
segment.join(timeout: 20)
p here.take("later", timeout: 20)

# A node that is not there.
class Nowhere < Kumihimo::CodeSegment
  input :value, take: "value", from: "nowhere"
  def run = nil
end
begin
  $stderr = StringIO.new
  Nowhere.start.join(timeout: 20)
rescue S::NotConnected => error
  p error.class
ensure
  $stderr = STDERR
end

# What was held in vain, while another input was missing, was not delivered.
class Both < Kumihimo::CodeSegment
  input :left, take: "left", from: "node2"
  input :right, take: "right", from: "node3"
  def run = put("deliveries", [input(:left).deliveries, input(:right).deliveries])
end
two.put("left", 1)
waits = Both.start
sleep 1.2
three.put("right", 2)
waits.join(timeout: 20)
p here.take("deliveries", timeout: 20)

# One input is this node's, and only looked at.
class Near < Kumihimo::CodeSegment
  input :order, take: "order", from: "node2"
  input :rate, peek: "rate"
  dead_letters "dead", tries: 2
  def run = put("bill", order * rate)
end
here.put("rate", 3)
two.put("order", 7)
Near.start.join(timeout: 20)
p here.take("bill", timeout: 20), here.size("rate")
# Owned, it is refused, and what was taken comes back, or is a dead letter.
here.update("rate", [4], move: true)
two.put("order", 8)
2.times do
  Near.start.join(timeout: 20)
rescue S::NotShared => error
  p error.class, two.size("order")
end
p here.take("dead", timeout: 20), here.take("rate")

# What can't be read comes back, too: nobody holds it for ever.
Grim = Struct.new(:size) do
  def hash = S.node == "node1" && S.const_defined?(:GRIM) ? raise("no hash") : super
end
class Read < Kumihimo::CodeSegment
  input :list, take: "list", from: "node2"
  dead_letters "dead", tries: 3
  def run = put("size", list.size)
end
two.put("list", { Grim.new(1) => 1 })
S.const_set(:GRIM, true)
3.times do
  Read.start.join(timeout: 20)
rescue RuntimeError => error
  p error.message, two.stat("list").values_at(:segments, :leased)
end
p here.take("dead", timeout: 20)
two.put("end", 1); three.put("end", 1)
