# `private` and its like in a block that is evaluated for a module hold there, within a method as well.
$r = []
def dm(&block)
  x = Module.new
  x.module_eval(&block)
  p [$r.shift, x.public_instance_methods, x.private_instance_methods, x.protected_instance_methods]
end
class K
  define_method(:t) { $r << 1; dm { private; def a = 1 } }
  define_method(:t2) { $r << 2; dm { private; def a = 1; def b = 2 } }
  def t3 = ($r << 3; dm { private; def a = 1 })
end
K.new.t; K.new.t2; K.new.t3
o = Object.new
o.instance_exec { $r << 4; dm { private; def a = 1 } }
K.class_exec { $r << 5; dm { private; def a = 1 } }
b = proc { $r << 6; dm { private; def a = 1 } }
o.instance_exec(&b)
K.define_method(:t7, &proc { $r << 7; dm { protected; def a = 1 } })
K.new.t7
class K
  b = proc { $r << 8; dm { private; def a = 1 } }
  define_method(:t8, &b)
end
K.new.t8
def self.it(&b) = Class.new { define_method(:x, &b) }.new.x
it { $r << 9; dm { private; def a = 1 } }
it { $r << 10; dm { private; def a() 1 end } }
it { $r << 11; @c = 1; dm { private; def a() 1 end }; dm { protected; def a() 1 end } }
it { $r << 12; Module.new { private; def a = 1; p public_instance_methods } }
it { Class.new { private; def a = 1; p public_instance_methods(false) } }
it { Module.new.module_eval { private; def a = 1; p [public_instance_methods, 1] } }

class Hooked
  def self.inherited(sub)
    super
    sub.class_eval do
      private

      def secret = 1

      public

      def open = secret
    end
    sub.instance_eval { def own = 2 }
    sub.class_eval "protected; def text = 3"
  end
  def self.within
    private
    def by_a_method = 4
  end
end
class Sub < Hooked; end
p Sub.new.open, Sub.own, Sub.private_instance_methods(false), Sub.protected_instance_methods(false)
Hooked.within
p Hooked.public_method_defined?(:by_a_method)
def functions
  Module.new do
    module_function

    def f = 1
  end
end
p functions.f, functions.instance_methods

# A method whose body is a block has the visibility of the block's place.
class ByBlock
  define_method(:before) { def defined_before = 1 }
  private
  define_method(:after) { def defined_after = 1 }
  public
  def by_def = (def defined_by_def = 1)
  private
  def last = 1
end
x = ByBlock.new
x.before
x.send(:after)
x.by_def
p ByBlock.private_instance_methods(false).sort, ByBlock.public_instance_methods(false).sort
module ByBlockModule
  define_singleton_method(:make) { def made = 1 }
  module_function
  def other = 2
end
ByBlockModule.make
p ByBlockModule.private_instance_methods.sort, ByBlockModule.singleton_methods.sort
