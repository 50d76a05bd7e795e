# The orders in which objects got their instance variables are forgotten with the last object that has one, and their
# numbers are used again: no call site reads another variable's slot.

class Point
  attr_accessor :x, :y
  def initialize(x, y) = (@x, @y = x, y)
  def sum = @x + @y
  def set(v) = @x = v
end

class Turned
  attr_accessor :x, :y
  def initialize(x, y) = (@y, @x = y, x)
  def sum = @x + @y
  def set(v) = @x = v
end

def passing(n, tag)
  n.times do |i|
    o = Object.new
    o.instance_variable_set("@#{tag}_#{i}", i)
    o.instance_variable_set("@#{tag}_#{i}_more", -i)
    raise "wrong" unless o.instance_variable_get("@#{tag}_#{i}_more") == -i
  end
end

kept = Object.new
40.times { |i| kept.instance_variable_set("@kept_#{i}", i) }
late = Object.new.tap { _1.instance_variable_set(:@late, 1) }

right = 12.times.map do |round|
  passing(60, "r#{round}")
  GC.start if round % 2 == 0
  classes = round.even? ? [Point, Turned] : [Turned, Point]
  classes.map do |c|
    p = c.new(round, 100)
    p.set(p.x + 1)
    p.x += 1
    [p.sum, p.x, p.y, p.instance_variables.sort] == [round + 102, round + 2, 100, [:@x, :@y]]
  end
end
p right.flatten.all?

# Classes whose instances all die, whose methods stay.
makers = 5.times.map do |i|
  Class.new do
    define_method(:initialize) { |n| n.times { |k| instance_variable_set("@v#{i}_#{k}", [i, k]) } }
    class_eval("def last = [@v#{i}_0, @v#{i}_9]")
  end
end
4.times do |round|
  p makers.map { |c| c.new(10).last }.each_with_index.all? { |v, i| v == [[i, 0], [i, 9]] }
  passing(40, "m#{round}")
  GC.start
end

p kept.instance_variables.size, 40.times.all? { |i| kept.instance_variable_get("@kept_#{i}") == i }
late.instance_variable_set(:@later, 2)
p late.instance_variables, late.inspect[/ @late=1, @later=2>/]

# Removing and setting again.
o = Point.new(1, 2)
GC.start
o.remove_instance_variable(:@x)
p o.x, o.y, o.instance_variables
o.x = 5
p o.sum, o.instance_variables.sort, o.dup.sum

# Beside other threads.
sums = 4.times.map do |t|
  Thread.new do
    50.times.map do |i|
      a = Object.new
      a.instance_variable_set("@t#{t}_#{i % 7}", i)
      GC.start if i % 17 == 16
      b = (i.even? ? Point : Turned).new(i, t)
      a.instance_variable_get("@t#{t}_#{i % 7}") == i && b.sum == i + t && b.x == i
    end.all?
  end
end.map(&:value)
p sums
