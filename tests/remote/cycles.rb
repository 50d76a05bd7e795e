# nodes: 8
# Cycles over nodes: what is held from outside stays and works, the others go, though nobody collects by hand and most nodes are idle.
R = Kumihimo::Remote
class Link
  include Kumihimo::Remote
  attr_accessor :to, :weak
  def initialize(name) = @name = name
  def make(name) = Link.new("#{name} #{Kumihimo::Cluster.self}")
  def walk(n) = n.zero? ? [@name] : [@name] + to.walk(n - 1)
  def there = [GC.stat(:cluster)[:exports], ObjectSpace.each_object(Link).count]
  def rounds = GC.stat(:cluster)[:rounds_ended]
  # Held by a weak table alone.
  def name_weakly(link) = (Names[:it] = link; nil)
  def weakly_named = Names[:it]
end
Names = ObjectSpace::WeakMap.new
Kumihimo::Segments.wait_for_nodes(8)
maker = R.register("maker", Link.new("maker"))
Kumihimo::Cluster.barrier
if Kumihimo::Cluster.self != "node1"
  Kumihimo::Segments.local.take("end")
  exit
end
makers = Kumihimo::Cluster.nodes.map { |n| n == "node1" ? maker : R.find("maker", on: n) }
ring = ->(name, nodes) do
  links = nodes.map { |n| makers[n].make(name) }
  links.each_cons(2) { |a, b| a.to = b }
  links.last.to = links.first
  links.first
end
# What each node has: its maker, and one link of the kept ring.
kept = ring["kept", 0..7]
20.times { |i| ring["of two #{i}", 1..2] }
20.times { |i| ring["of three #{i}", [0, 3, 5]] }
20.times { |i| ring["of eight #{i}", 0..7] }
[ring["both", 6..7], ring["ways", 6..7]].then { |a, b| a.to.to, b.to.to = b, a }
# A cycle that a weak table names can come back to life at any time.
makers[2].name_weakly(ring["weakly named", [2, 1]])
want = [2, 3, 3, 2, 2, 2, 2, 2]
there = -> { makers.map(&:there) }
# Whoever reads this takes a minute of silence for a hang.
$stdout.sync = true
240.times do |i|
  break if there[].map(&:last) == want
  puts "waits" if i % 40 == 39
  sleep 0.5
end
p there[]
p kept.walk(8).map { |name| name.split.last }
p makers[2].weakly_named.walk(2)
p makers.map(&:rounds).all? { |n| n >= 1 }
kept = nil
makers[1..].each { |m| Kumihimo::Segments[m.node].put("end", 1) }
