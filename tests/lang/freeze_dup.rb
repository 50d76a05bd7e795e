s = "abc".freeze
p s.frozen?, s.dup.frozen?, s.clone.frozen?, s.clone(freeze: false).frozen?, (s << "x" rescue $!.message), :a.frozen?, 1.frozen?, nil.frozen?, [1].freeze.map { |x| x }.frozen?
a = [1, [2, 3]].freeze
p (a << 1 rescue $!.class), a[1] << 4, a.dup << 9
h = { a: { b: 1 } }.freeze
p (begin; h[:c] = 1; rescue => e; e.class; end), h[:a][:c] = 2
class P
  attr_accessor :x
  def initialize_copy(o) = (@x = o.x.dup)
end
a = P.new
a.x = "q"
b = a.dup
b.x << "r"
p a.x, b.x, a.freeze.frozen?, (begin; a.x = 1; rescue => e; e.class; end), a.x << "still", b.frozen?
o = Object.new
def o.sing = 1
p o.clone.sing, (o.dup.sing rescue $!.class), o.clone(freeze: true).frozen?
