module Greet
  def self.included(base) = (base.extend(ClassMethods))
  module ClassMethods
    def greeting = "hi from #{self}"
  end

  def greet = "hello #{name}"
end

module Loud
  def greet = super.upcase + "!"
end

class Person
  include Greet
  prepend Loud
  attr_reader :name

  def initialize(name) = @name = name
end
p Person.new("bob").greet, Person.greeting, Person.ancestors.take(3), Person.include?(Greet), Person.new("x").is_a?(Loud)
o = Object.new
o.extend(Greet)
def o.name = "obj"
p o.greet, o.singleton_class.include?(Greet)
module Util
  module_function

  def twice(x) = x * 2
  PI2 = 6.28
end
p Util.twice(4), Util::PI2, Util.respond_to?(:twice), Util.instance_method(:twice).class, (Object.new.extend(Util).twice(1) rescue $!.class)
module Outer
  X = 1
  module Inner
    Y = X + 1
    def self.look = [X, Y, Module.nesting]
  end
end
p Outer::Inner.look, Outer.constants.sort, Outer.const_defined?(:X), Outer::Inner.name, Module.new.name
module Refined
  refine Integer do
    def double = self * 2
  end
end
using Refined
p 21.double
p Outer.const_missing(:Nope) rescue p $!.message
module Deco
  def self.extended(b) = puts("extended #{b}")
  def self.prepended(b) = puts("prepended #{b}")
end
class Person
  prepend Deco
end
Person.extend Deco
p Kernel.instance_method(:puts).owner, Comparable.is_a?(Class), Enumerable.instance_of?(Module), Person.instance_methods(false)
p Outer.module_eval { self::X }, Outer.class_eval("Inner::Y"), Person.class_exec(3) { |x| x + 1 }
Outer.const_set(:Z, 26)
p Outer::Z, Outer.send(:remove_const, :Z), Outer.const_defined?(:Z)
class Hooks
  def self.inherited(k) = (puts "inherited #{k.inspect[0, 8]}"; super)
  def self.method_added(m) = puts("added #{m}")
  def foo; end
  class Sub < Hooks; end
end
# What is left of the method in the refined class is its visibility.
class Upper
  def seen = 1
end
class Lower < Upper
  private :seen
end
module Seeing
  refine(Lower) { def seen = super }
end
using Seeing
p Lower.new.seen
Upper.remove_method :seen
p Lower.new.seen rescue puts $!.message
