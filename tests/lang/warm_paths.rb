# What a place in the code has learned holds only as long as it is true.

# Instance variables that appear one after the other.
class Point
  def initialize(x, y) = (@x, @y = x, y)
  def mark(m) = @m = m
  attr_reader :x, :y, :m
  attr_accessor :late
end
points = (1..5).map { |i| Point.new(i, -i) }
points.each { |q| q.mark(:a) }
points[2].remove_instance_variable(:@x)
points.each { |q| q.mark(:b) }
p points.map { |q| [q.x, q.y, q.m, q.late] }
points.each { |q| q.late = q.m }
p points.map(&:instance_variables).uniq
def mark_all(list)
  list.each { |q| q.mark(:c) }
rescue => e
  p e.class, e.message[/can't modify frozen Point/]
end
fresh = (1..3).map { |i| Point.new(i, i) }
fresh[1].freeze
mark_all(fresh)
p fresh.map(&:m)
class Wide
  def initialize
    @a, @b, @c, @d, @e, @f, @g, @h, @i, @j = *1..10
  end
  def sum = @a + @b + @c + @d + @e + @f + @g + @h + @i + @j
end
p Array.new(3) { Wide.new.sum }
# Another order in the same place.
class Order
  def initialize(first) = first ? @a = 1 : @b = 2
  def both
    @a = :a
    @b = :b
    [@a, @b, instance_variables]
  end
end
p [true, false, true, false].map { |f| Order.new(f).both }

# new and what it calls.
class Made
  def initialize(n) = @n = n
  attr_reader :n
end
make = -> { Made.new(3).n }
p make.(), make.()
class Made
  def initialize(n) = @n = n * 10
end
p make.()
def Made.allocate = raise("never asked")
p make.()
class Made
  def initialize(n, m = 1) = @n = n + m
end
p make.()
child = Class.new(Made)
p [Made, child].map { |c| c.new(1).n }
class Made
  undef_method :initialize
end
begin
  make.()
rescue NoMethodError, ArgumentError => e
  puts "no initialize: #{e.class}"
end

# Array.new.
list = ->(*a) { Array.new(*a) }
p list.(), list.(2), list.(2, 0), Array.new, Array.new(3), Array.new(2, :x), Array.new(2) { _1 }
[-1, "x"].each do |n|
  Array.new(n)
rescue ArgumentError, TypeError, RangeError => e
  p e.class
end
begin
  Array.new(1, 2, 3)
rescue ArgumentError => e
  puts e.message
end
p Array.new([1, 2])

# Equality of strings.
class Loud < String
  def ==(other) = :loud
end
same = ->(a, b) { [a == b, a != b, (a == b ? 1 : 2)] }
p same.("a", "a"), same.("a", "b"), same.("a", :a), same.(Loud.new("a"), "b"), same.("a", Loud.new("a"))
p same.("é", "é".b), same.("e", "e".b), same.("", "".encode("UTF-16LE"))
class String
  alias plain_eq ==
  def ==(other) = plain_eq(other) ? "yes" : nil
end
p same.("a", "a"), same.("a", "b")
class String
  alias == plain_eq
end
p same.("a", "a")
class Array
  alias plain_initialize initialize
  def initialize(*a)
    plain_initialize(*a)
    push(:mine)
  end
end
p Array.new(1), list.(2)
