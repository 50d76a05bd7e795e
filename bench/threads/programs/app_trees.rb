# Binary trees made and walked: objects, instance variables, recursion, collections.
times = (250 * (ARGV[0] || 1).to_f).ceil
class Tree
  attr_reader :left, :right
  def initialize(depth)
    @left = depth > 0 ? Tree.new(depth - 1) : nil
    @right = depth > 0 ? Tree.new(depth - 1) : nil
  end

  def count = 1 + (@left ? @left.count + @right.count : 0)
end
sum = 0
times.times { sum += Tree.new(11).count }
puts sum
