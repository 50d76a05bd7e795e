class Base
  attr_accessor :a, :b
  def initialize(a, b = [a]) = (@a, @b = a, b)
  def ==(o) = o.is_a?(Base) && a == o.a
  alias eql? ==
  def hash = a.hash
  def <=>(o) = a <=> o.a
  include Comparable
  def to_s = "B(#{a})"
  def method_missing(n, *args) = n.to_s.start_with?("x_") ? [n, args] : super
  def respond_to_missing?(n, p = false) = n.to_s.start_with?("x_") || super
end
l = (1..10).map { |i| Base.new("k#{i % 4}", [i]) }
p l.uniq.size, l.sort.first.to_s, l.group_by(&:a).transform_values(&:size), l.max.to_s, l.map(&:to_s).tally, l.first.x_foo(1, 2), l.first.respond_to?(:x_y), (l.first.nope rescue $!.class), l.to_h { |o| [o, o.b] }.size, l.include?(Base.new("k1")), l.index(Base.new("k2")), (l.minmax.map(&:to_s)), l.first.clamp(l[1], l[2]).to_s
o = Object.new
20.times { |i| o.instance_variable_set("@v#{i}", "val#{i}") }
p o.instance_variables.size, o.instance_variable_get(:@v7), o.dup.instance_variable_get(:@v19), o.clone.instance_variables.size
k = Class.new(Base) { define_method(:dyn) { |q = 1, *r, k: 2, **o, &b| [q, r, k, o, b&.call] } }
p k.new(1).dyn(5, 6, k: 7, z: 8) { 9 }, k.new(2).method(:dyn).arity, k.instance_method(:dyn).parameters.size, k.superclass
S = Struct.new(:x, :y) { def dist = x + y }
p S.new(1, 2).dist, S.new("a", "b").to_a, S.new(1, [2, 3]) == S.new(1, [2, 3]), [S.new(2, 1), S.new(1, 2)].min_by(&:x).to_a, S.new(1, 2).each.map { |v| v * 2 }
m = Module.new { def mixed = "mixed #{self.class}" }
p 5.dup.singleton_methods, Object.new.extend(m).mixed[0, 5], "str".then { |s| s.extend(m).mixed }, o.singleton_class.include?(m), ObjectSpace::WeakMap.new.tap { |w| w["k"] = o }.size <= 1
p Marshal.load(Marshal.dump([1, "two", :three, 4.0, { five: [6] }, nil, 2**70, S.new(1, 2), 1..3])), [o, o].uniq.size, o.frozen?, "lit".frozen?, :sym.frozen?, Base.new(1).freeze.frozen?
