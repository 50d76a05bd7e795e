# A module stands in an order as often as it was mixed in where it did not stand yet, and super goes on from each place.
module M
  def who = [:M, *(super if defined?(super))]
  def each_way = [1].flat_map { |x| [:M, *super()] }
  define_method(:defined_here) { [:M, *(super() if defined?(super))] }
  alias_method :other, :who
end

class Base
  def who = [:Base]
  def each_way = [:Base]
end

class Q < Base
  prepend M
end

class R < Q
  prepend M
  def who = [:R, *super]
end

r = R.new
p r.who, r.each_way, r.defined_here, r.other
p R.ancestors.take(5)
m = r.method(:who)
while m
  p m.owner
  m = m.super_method
end
p R.instance_method(:who).owner, Q.instance_method(:who).owner
p Class.new(R) { prepend M }.new.who
f = Fiber.new { r.who }
p f.resume, Thread.new { r.who }.value

# Recursion begins at the first place again.
module Deep
  def go(n) = n == 0 ? [:end] : [[n, :Deep], *super]
end
class D0
  def go(n) = [:D0, *go(n - 1)]
end
class D1 < D0
  prepend Deep
end
class D2 < D1
  prepend Deep
end
p D2.new.go(2)

# The order of mixing in counts.
module N
  include M
  def who = [:N, *super]
end
MIXES = {
  "sub first" => -> { a = Class.new; b = Class.new(a) { include M }; a.include(M); [b, a] },
  "super first" => -> { a = Class.new { include M }; b = Class.new(a) { include M }; [b, a] },
  "prepended below" => -> { a = Class.new { include M }; b = Class.new(a) { prepend M }; [b, a] },
  "prepended above" => -> { a = Class.new { prepend M }; b = Class.new(a) { include M }; [b, a] },
  "prepended above later" => -> { a = Class.new; b = Class.new(a) { include M }; a.prepend(M); [b, a] },
  "prepend, include" => -> { a = Class.new { prepend M; include M }; [a] },
  "include, prepend" => -> { a = Class.new { include M; prepend M }; [a] },
  "both of both" => -> { a = Class.new { include N; include M; prepend M; prepend N }; [a] },
  "again" => -> { a = Class.new { include M; include M; include N; include N }; [a] },
  "includes later, prepended" => -> { k = Module.new; a = Class.new { include M }; b = Class.new(a) { prepend k }; k.include(M); [b, a] },
  "includes later, after prepend" => -> { k = Module.new; l = Module.new; a = Class.new { prepend l; include k; include M }; k.include(l); [a] },
  "prepended through another" => -> { a = Class.new { prepend N; prepend M }; [a] },
  "three" => -> { a = Class.new; b = Class.new(a); c = Class.new(b) { include N }; b.include(N); a.include(N); [c, b, a] }
}
MIXES.each do |name, make|
  classes = make.call
  order = classes[0].ancestors.take_while { |x| x != Object }.map { |x| x.is_a?(Class) ? ("A".ord + classes.index(x)).chr : x.name || "module" }
  p [name, order, classes[0].new.who]
end

# What a module defines, makes private or takes away later holds at each of its places.
module M
  def who = [:again, *(super if defined?(super))]
end
p R.new.who
module M
  remove_method :who
end
p R.new.who
200.times { Class.new(R) { prepend M }.new.each_way }
GC.start
p R.new.each_way
