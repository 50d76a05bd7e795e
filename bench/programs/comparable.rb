class Ver
  include Comparable
  attr_reader :n
  def initialize(n) = @n = n
  def <=>(o) = @n <=> o.n
end
a = Array.new(3000) { |i| Ver.new((i * 7919) % 3001) }
n = 0
100.times { n += a.sort.first.n + a.max.n + a.count { |v| v > a[0] } }
puts n
