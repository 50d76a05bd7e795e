# `super` finds the refinements that are in force where it stands, of what comes after its method's place.
class A; def x = :a; def y(n) = [:a, n]; def z = :z; end
module Plain
  def self.call = Class.new(A) { def x = [:plain, super] }.new.x
end
module R
  refine(A) do
    def x = [:refined, super]
    def y(n = 5, k: 1) = [:refined, super(n), k]
    def only = :only
  end
end
module Before; def x = [:before, super]; end
p Plain.call
using R
class B < A
  def x = [:b, super]
  def y(n) = [super, super(n + 1), super(n, k: 2)]
  def z = [:b, super]
  def only = [:b, super]
  def dm = nil
  define_method(:z) { [:dm, super()] }
end
p B.new.x, B.new.y(1), B.new.z, B.new.only, Plain.call
class C < B; def x = [1].map { super() } ; def only = defined?(super); end
p C.new.x, C.new.only
class C; prepend Before; end
p C.new.x
o = B.new
def o.x = [:own, super]
p o.x, o.clone.x
class A; prepend(Module.new { def x = [:prepended, super] }); end
p B.new.x, A.new.x
