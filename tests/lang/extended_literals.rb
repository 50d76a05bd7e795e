# nil, true and false are extended through their classes; what has no singleton class says so, frozen or not.
module M
  def hi = "hi"
  def self.extended(o) = puts("extended #{o.inspect}")
end
p nil.extend(M), nil.hi
p true.extend(M).hi, false.extend(M).hi
p((1.extend(M) rescue $!), (:a.extend(M) rescue $!), (1.5.extend(M) rescue $!), ((2**70).extend(M) rescue $!))
p nil.singleton_class, nil.singleton_class.include?(M), nil.is_a?(M), NilClass.include?(M), M === nil
def nil.foo = 1
p nil.foo, nil.singleton_methods.sort
class << nil
  def bar = 2
end
p nil.bar, NilClass.instance_methods(false).include?(:bar)
p((nil.extend rescue $!), (nil.extend(1) rescue $!), (nil.extend(Class.new) rescue $!))
p nil.dup, nil.clone, (nil.clone(freeze: false) rescue $!), nil.clone(freeze: true)
p((nil.instance_variable_set(:@a, 1) rescue $!))
nil.define_singleton_method(:q) { 9 }
p nil.q
[String.new("a").freeze, [].freeze, Object.new.freeze, 1..2].each { |x| p((x.extend(M) rescue $!.class)) }
