class Point
  def initialize(x, y)
    @x = x
    @y = y
  end
  def x = @x
  def y = @y
  def add(o) = Point.new(@x + o.x, @y + o.y)
end
p1 = Point.new(1, 2)
acc = Point.new(0, 0)
2_000_000.times { acc = acc.add(p1) }
puts acc.x, acc.y
