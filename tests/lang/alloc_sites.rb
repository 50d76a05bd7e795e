# Sites whose objects are kept are sent out of the window, and what they make is the same there.
class Node
  attr_accessor :value, :others

  def initialize(value, *rest, tag: nil, **more, &blk)
    @value = value
    @others = rest
    @tag = tag || [value]
    @more = more
    @blk = blk
  end

  def sum = @value + @others.sum + @tag.sum + @more.values.sum + (@blk ? @blk.call : 0)
end
class Sub < Node
  def initialize(a, *) = super(a, *[a, a].map { |x| x + 1 }, tag: [1, a])
end
Pair = Struct.new(:a, :b)

$keep = []
def keep(x) = $keep << x
def round(n)
  n.times do |i|
    $keep.clear if i % 300 == 299
    yield i
  end
end
def total(x)
  case x
  when Integer then x
  when String, Symbol then x.size
  when Float then x.floor
  when Array then x.sum { |y| total(y) }
  when Hash then x.sum { |k, v| total(k) + total(v) }
  when Node then x.sum
  when Pair then total(x.to_a)
  when Proc then total(x.call)
  when Range then x.sum
  when Rational, Complex then total(x.real.to_i)
  else 0
  end
end
N = 400

# Literals of every kind, with private things in them.
round(N) do |i|
  inner = [i, "v#{i}"]
  keep [inner, { k: inner, "s" => [i] }, "a#{i}b", (i..i + 2), -> { inner }, [*inner, *[1, 2]]]
end
p total($keep), $keep.size

# Objects, with and without arguments of their own, blocks and super.
$keep.clear
round(N) do |i|
  j = [i]
  keep Node.new(i)
  keep Node.new(i, i, tag: j)
  keep Node.new(i, x: i, y: 1) { j[0] }
  keep Sub.new(i)
  keep Pair.new([i], { i => "x" })
end
p total($keep), $keep.size

# Natives: what they make, and what they were given to keep in it.
$keep.clear
round(N) do |i|
  a = [i, "x#{i}", [i]]
  h = { a: [i], b: "b" }
  keep a.dup
  keep a + [[i]]
  keep a.zip(a, a)
  keep a.first(2)
  keep a.reverse
  keep a * 2
  keep a.each_slice(2).to_a
  keep a.partition { |x| x.is_a?(String) }
  keep h.to_a
  keep h.merge(c: [i])
  keep h.map { |k, v| [k, v] }
  keep h.group_by { |_, v| v.class.name.size }
  keep "a,b#{i},c".split(",")
  keep "a#{i}".sub("a", "bb") + "c"
  keep "abc"[0, 2]
  keep i.to_s
  keep [3, 1, i].sort_by { |x| -x }
  keep [[i, "k"]].to_h
  keep i.divmod(7)
  keep format("%d-%s", i, "z")
  keep "k#{i}" =~ /(\d+)/ ? [$~[0], $1, $`] : nil
end
p total($keep), $keep.size

# One line of the library for two callers: the one keeps what it makes, the other does not.
$keep.clear
n = 0
round(N) do |i|
  keep [i, 2].each_with_index.map { |x, k| [x, k] }
  n += [i, 2].each_with_index.map { |x, k| [x, k] }.size
end
p total($keep), n

# A site that keeps, then does not, then keeps again.
$keep.clear
make = ->(i) { [i, [i, i]] }
3.times do |phase|
  3000.times do |i|
    x = make.(i)
    $keep << x if phase != 1 && i % 2 == 0
    $keep.clear if $keep.size > 500
  end
end
p total($keep)

# Captured variables, rest arguments and enumerators that outlive their maker.
$keep.clear
def counter(start)
  n = [start]
  -> { n[0] += 1; n }
end
def rest(*all, **opts) = [all, opts]
round(N) do |i|
  c = counter(i)
  c.call
  keep c
  keep rest(i, [i], a: [1], **{ b: i })
  _, *tail = [i, [i], "t"]
  keep tail
end
p total($keep)

# Constants, globals and class variables hold what is born shared.
class Node
  TABLE = { a: [1, [2]], "b" => Node.new(1, 2) }
  @@all = [TABLE, [TABLE[:a]]]
  def self.all = @@all
end
$g = ["x", ["y", { z: [1] }]]
t = Array.new(3) { |k| Thread.new { k.times { $g[1] << [k] }; Node.all[0][:a].dup << $g.size } }
p t.map { |x| x.value.size }, $g[1].size, Node.all.flatten(1).size
