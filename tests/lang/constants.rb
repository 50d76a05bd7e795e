A = 1
module M
  A = 2
  class C
    def a = A
    def top = ::A
    B = [A, ::A]
  end
  class C::D
    def a = (A rescue "none")
  end
end
p M::C.new.a, M::C.new.top, M::C::B, M::C::D.new.a, M.constants.sort, Object.const_get("M::C::B")
class Parent
  K = :parent
  def k = K
  def self_k = self.class::K
end
class Child < Parent
  K = :child
end
p Child.new.k, Child.new.self_k, Child.const_get(:K), Parent::K, Child.constants
begin
  Nope
rescue NameError => e
  puts e.message, e.name.inspect
end
begin
  M::Nope
rescue NameError => e
  puts e.message
end
M.send(:remove_const, :A)
p M.const_defined?(:A, false), defined?(M::A), defined?(Zork), M.name
module Auto
  def self.const_missing(n) = const_set(n, "auto #{n}")
end
p Auto::X, Auto.const_defined?(:X), Auto::X.equal?(Auto::X)
M.private_constant :C
p (M::C rescue $!.class)
X ||= 5
X2 = X
p X, X2, self.class.const_defined?(:X), Math::PI.floor, Float::DIG, RUBY_VERSION.class
