class V
  include Comparable
  attr_reader :n
  def initialize(n) = @n = n
  def <=>(o) = o.is_a?(V) ? n <=> o.n : nil
  def succ = V.new(n + 1)
  def inspect = "V#{n}"
  def hash = n.hash
  def eql?(o) = o.is_a?(V) && n == o.n
  def coerce(x) = [V.new(x), self]
  def +(o) = V.new(n + (o.is_a?(V) ? o.n : o))
  def -@ = V.new(-n)
  def [](i) = n.to_s[i]
  def call(x) = n * x
  def to_str = "V#{n}"
  def ! = :not
  def =~(x) = "match #{x}"
  def ===(x) = x == n
  def to_proc = ->(x) { x + n }
end
a, b = V.new(1), V.new(2)
p a < b, a == V.new(1), a != b, [b, a].sort, [a, b].max, a.clamp(b, b), a.between?(a, b), (a < 3 rescue $!.message)
p({ a => 1 }[V.new(1)], [a, V.new(1)].uniq, a + b, -a, V.new(42)[0], a.(5), "x" + a, !a, a =~ 5, (case 1 when a then :yes end), [1, 2].map(&b), 5 + a)
