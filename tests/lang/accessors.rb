class A
  attr_reader :r
  attr_writer :w
  attr_accessor :x, :y
  def initialize = (@r, @w, @x = 1, 2, 3)
  def get_w = @w
  def opt_set = (self.y ||= 9)
  def []=(k, v)
    @h = { k => v }
  end
  def [](k) = @h[k]
end
a = A.new
a.w = 5
a.x += 10
a[:q] = 4
a[:q] += 1
a&.x = 99
p a.r, a.get_w, a.x, a.y, a.opt_set, a.y, a[:q], (a.x = 7), a.respond_to?(:w), a.respond_to?(:w=), (a.r = 1 rescue 0) rescue p $!.class
n = nil
p n&.x, n&.x&.y, (n.to_a), A.instance_methods(false).sort.first(3)
