# nodes: 3
# Objects that move from node to node while all call them: nothing is done twice, nothing is lost, old references follow.
R = Kumihimo::Remote
C = Kumihimo::Cluster

class Tally
  include R::Movable
  attr_reader :n, :log

  def initialize
    @n = 0
    @log = []
    @lock = Mutex.new
  end

  def marshal_dump = [@n, @log]
  def marshal_load(state)
    @n, @log = state
    @lock = Mutex.new
  end

  def add(n = 1) = @lock.synchronize { @n += n }
  def here = Kumihimo::Segments.node
  def slow(s) = (sleep s; add; :slow)
  def twice = yield(yield(1))
  def go(node) = (@log << here; move_to(node); nil)
end

class Plain
  include R::Movable
  attr_accessor :value, :me, :other
  def initialize(value) = @value = value
  def whole = [value, me.equal?(self), other&.value]
end

class Stays
  include R
  def initialize = @x = 1
end

class Plain
  def lock! = @value = Mutex.new
end
class OnlyHere
  include R::Movable
  def initialize = @x = 1
  def put(x) = @x = x
end if C.self == "node1"

say = ->(*what) { puts(*what.map(&:inspect)) if C.self == "node1" }
fails = lambda do |&block|
  block.call
  :nothing
rescue StandardError => error
  [error.class, error.message]
end

# 1: it goes round, asked for by others, by its own node, by itself; names and old references follow.
tally = R.register("tally", Tally.new) if C.self == "node1"
tally ||= R.find("tally", on: "node1")
C.barrier
found = []
%w[node2 node3 node1 node3 node2].each_with_index do |to, i|
  if C.self == C.nodes[i % 3]
    case i
    when 3 then tally.go(to)
    else tally.move_to(to)
    end
  end
  C.barrier
  # Who has not met the new node yet is told again.
  sleep 0.05 until tally.node == tally.here
  found << [tally.here, tally.node, tally.add]
  same = R.find("tally", on: "node1")
  found.last << (R.reference?(same) ? same == tally && same.hash == tally.hash && { same => 1 }.key?(tally) : Tally === same && same.here == C.self)
  C.barrier
end
home = R.find("tally", on: "node1")
say[C.reduce([found.map(&:first)]) { |a, b| a + b }]
say[C.reduce([found.map { |f| f[1] == f[0] }.all?]) { |a, b| a + b }]
say[C.reduce([found.map(&:last).all?]) { |a, b| a + b }, found.map { |f| f[2] }.all? { |n| (1..15) === n }]
say[C.reduce([R.reference?(home) ? :reference : home.class.name]) { |a, b| a + b }]
say[tally.log, tally.n, tally.twice { |x| x + 1 }, fails.call { tally.missing }]
C.barrier

# 2: calls that are under way end first, those that come wait.
if C.self == "node1"
  under_way = tally.async.slow(0.5)
  sleep 0.1
  move = Thread.new { tally.move_to("node3") }
  sleep 0.1
  late = tally.async.here
  say[%w[node2 node3].include?(late.value), under_way.value, move.value == tally, tally.node]
end
C.barrier

# 3: all call, it goes wherever it likes.
stop = false
sums = Array.new(4) { Thread.new { Array.new(100) { tally.add(1) } } }
mover = Thread.new { 12.times { |i| tally.move_to(C.nodes[(i + C.self[-1].to_i) % 3]); sleep 0.002 } }
all = sums.flat_map(&:value)
mover.join
C.barrier
say[C.reduce(all) { |a, b| a + b }.tally.values.max, tally.n]

# 4: what does not move stays as it was.
if C.self == "node1"
  plain = Plain.new(1)
  plain.lock!
  say[fails.call { plain.move_to("node2") }]
  plain.value = 5
  say[plain.value, R.reference?(plain)]
  say[fails.call { R.move(Stays.new, to: "node2") }, fails.call { R.move([1], to: "node2") }]
  only = OnlyHere.new
  say[fails.call { only.move_to("node2") }, only.put(3)]
  own = Plain.new(1)
  def own.own = 1
  say[fails.call { own.move_to("node2") }]
  say[fails.call { Plain.new(1).move_to("node9") }[0]]
  frozen = Plain.new("f").freeze
  frozen.move_to("node2")
  say[frozen.value, fails.call { frozen.value = 1 }[0]]
  there = Kumihimo::Segments["node2"]
  there.put("k", [Plain.new(1)])
  there.put("k", frozen)
  say[there.take("k")[0].value, there.take("k").equal?(frozen)]
  # Values move, objects that stay don't; it finds itself.
  plain = Plain.new([1, { "x" => [2.5, nil] }])
  plain.me = plain
  plain.other = Plain.new(:other)
  same = plain.hash
  keys = { plain => 1 }.compare_by_identity
  plain.move_to("node2")
  say[plain.whole, keys[plain], R.reference?(plain), plain.class, plain.hash == same]
  say[plain.other.equal?(plain.me), Plain === plain.other, plain.me == plain, plain.me.equal?(plain)]
end
# All end once the first one has.
if C.self == "node1"
  %w[node2 node3].each { |node| Kumihimo::Segments[node].put("end", 1) }
else
  Kumihimo::Segments.local.take("end")
end
