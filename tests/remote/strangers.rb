# nodes: 3
# What programs do that the library has not heard of: names of their own, threads that they change, errors that come from far.
require "kumihimo/cluster"
R = Kumihimo::Remote
S = Kumihimo::Segments
def heard = (yield rescue "#{$!.class}: #{$!.message}")

# Names that the library uses inside.
NODE = "the program's"
SOON = 1
module Service; def self.to_s = "the program's Service"; end
Later = Within = Here = Desk = Arrival = Counts = OWN = HOLD = BETWEEN = NOTHING = :mine

class Odd < StandardError; end

# Collections that stay.
class Line < Array
  include R
  def add(x) = push(x).size
end
class Ledger < Hash
  include R
  def set(k, v) = merge!(k => v).to_a
end
class Label < String
  include R
  def tail(s) = (self << s).length
end
ALL = [Line.new([1, 2]), Ledger.new.merge!(a: 1), Label.new("x")].freeze

class Clerk
  include R
  remote_methods :names, :change, :thread, :fails, :asks, :collections
  def collections = ALL
  def names = [NODE, SOON, Service.to_s, Later, Within, Here, Desk, Arrival, Counts, OWN, HOLD, BETWEEN, NOTHING]

  def change
    t = Thread.current
    t.priority = -2
    t.abort_on_exception = t.report_on_exception = true
    t[:left] = t.name = "changed"
    nil
  end

  def thread = Thread.current.then { |t| [t.priority, t.abort_on_exception, t.report_on_exception, t[:left], t.name] }
  def fails = raise(Class.new(StandardError) { def self.name = "Far" }, "far away")
  def asks(other) = other.fails
end

R.register("clerk", Clerk.new)
Kumihimo::Cluster.barrier
if S.node == "node1"
  two, three = %w[node2 node3].map { |n| R.find("clerk", on: n) }
  p Clerk.new.names, two.names
  20.times { two.change }
  p Array.new(20) { two.thread }.uniq
  error = (two.asks(three) rescue $!)
  p error.class, error.remote_class, error.message
  p Kumihimo.pmap([1, 2]) { |x| x + 1 }
  line, ledger, label = two.collections
  p two.collections.map { |c| R.reference?(c) }, line.add(3), line.add(4), ledger.set(:b, 2), label.tail("y"), label.tail("z")
  # A workshop keeps what came, whatever a member says of its size.
  p S.local.take("heard")
elsif Kumihimo.pmap([1, 2]) { |x| x + 1 } && S.node == "node2"
  shop = R.find("kumihimo workshop node1 node2 node3", on: "node1")
  all = [["node2", -1], ["nobody", 1], ["node2", "many"]].map { |node, size| heard { shop.work(9, node, size, nil) } }
  all << shop.work(9, "node2", 3 * 2**40, nil) << heard { shop.work(9, "node3", 3, nil) }
  S["node1"].put("heard", all)
end
Kumihimo::Cluster.barrier
