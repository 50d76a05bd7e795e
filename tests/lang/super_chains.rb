class A
  def m(a, b = 2, *r, k: 1, **o, &blk) = [:A, a, b, r, k, o, blk&.call]
  def self.cm(x) = "A.cm #{x}"
  def each = yield(1)
end
module Mid
  def m(*) = [:Mid, super]
end
class B < A
  include Mid
  def m(a, b = 3, *r, k: 5, **o, &blk)
    a += 1
    [:B, super]
  end
  def self.cm(x) = "B." + super
  def each
    super { |x| yield x * 10 }
  end
end
class C < B
  def m(...) = [:C, super(...)]
  def self.cm(x) = "C." + super(x + 1)
  def respond = super rescue "no super: #{$!.class}"

end
p C.new.m(1), C.new.m(1, 2, 3, k: 4) { :blk }, C.cm(1), C.new.respond
B.new.each { |x| p x }
module P
  def m(*a) = [:P, *super]
end
A.prepend(P)
p A.new.m(0).first, C.new.m(1).flatten.first(4), C.ancestors.first(5)
o = C.new
def o.m(x) = [:singleton, super(x)]
p o.m(5).first, o.method(:m).super_method.owner, o.method(:m).owner.inspect[0, 9]
class D
  def initialize(*a) = (@a = a)
  attr_reader :a
end
class E < D
  def initialize(x, y = x * 2)
    x = 100
    super
  end
end
p E.new(1).a
class F < D
  def initialize = super()
end
p F.new.a, F.instance_method(:initialize).arity
