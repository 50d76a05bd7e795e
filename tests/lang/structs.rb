P = Struct.new(:x, :y) do
  def dist = Math.sqrt(x * x + y * y)
  def to_s = "(#{x}, #{y})"
end
a = P.new(3, 4)
p a, a.dist, a.x, a[:y], a[0], a["x"], a.to_a, a.members, P.members, a == P.new(3, 4), a.eql?(P.new(3.0, 4)), a.hash == P.new(3, 4).hash, a.to_h.to_a
puts a, "#{a}"
a.x = 10
a[:y] = 20
p a, a.each.to_a, a.values_at(0), a.dig(:x), a.size, a.select(&:even?), P.new(1), (P.new(1, 2, 3) rescue $!.message), (a[:zz] rescue $!.message), (a[5] rescue $!.message)
K = Struct.new(:a, :b, keyword_init: true)
p K.new(a: 1, b: 2), K.new(a: 1).to_h.to_a, (K.new(c: 1) rescue $!.message), K.keyword_init?
x, y = *P.new(7, 8)
p x, y, P.new(1, 2) <=> P.new(1, 2), [P.new(2, 1), P.new(1, 2)].sort_by(&:x).map(&:to_a), P.new(1, [2]).dup.tap { |q| q.x = 9 }.x
class Sub < P
  def initialize(v) = super(v, v)
end
p Sub.new(5), Sub.ancestors.include?(P), Sub.new(1).is_a?(Struct), P.new(1, 2).frozen?, P.new(1, P.new(2, 3)).inspect
p Struct.new(:a).new(1).inspect, P.new(1, 2).each_pair.to_a, P.new(nil, 1).deconstruct
