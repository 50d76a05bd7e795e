class Box
  attr_accessor :a, :b
  def initialize
    @a = 0
    @b = 1
    @c = 2
  end
  def step
    @a += @b
    @c = @a - @c
  end
end
b = Box.new
4_000_000.times { b.step }
puts b.a
