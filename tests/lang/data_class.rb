Point = Data.define(:x, :y) do
  def +(o) = with(x: x + o.x, y: y + o.y)
  def self.origin = new(0, 0)
end
a = Point.new(1, 2)
b = Point.new(x: 3, y: 4)
p a, b, a + b, Point.origin, a == Point.new(1, 2), a.eql?(Point.new(1.0, 2)), a.to_h, a.frozen?, Point.members, a.with(y: 9), a.inspect
begin
  Point.new(1)
rescue ArgumentError => e
  puts e.message
end
begin
  Point.new(1, 2, 3)
rescue ArgumentError => e
  puts e.message
end
begin
  a.instance_variable_set(:@x, 3)
rescue => e
  puts e.class
end
case a
in { x:, y: } then p [x, y]
end
p a.respond_to?(:x=), a.hash == Point.new(1, 2).hash
