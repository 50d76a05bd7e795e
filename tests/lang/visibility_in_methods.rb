# `private` and its like called in a method, whose body is a block or is not.
class C
  private
  define_singleton_method(:mk) { public; def z = 1 }
  mk
end
p((C.new.z rescue $!.class))
class D
  define_singleton_method(:mk) { private }
  mk
  def b = 2
end
p((D.new.b rescue $!.class))
class E
  def self.mk
    private
    def y = 3
  end
  mk
  def b = 2
end
p((E.new.b rescue $!.class), (E.new.y rescue $!.class))
class F
  private
  define_method(:mk) { def q = 4 }
  public
  new.send(:mk)
  def r = 5
end
p((F.new.q rescue $!.class), (F.new.r rescue $!.class))
class G
  define_singleton_method(:mk) { private; define_method(:w) { 1 }; def v = 2; attr_reader :u }
  mk
  p private_instance_methods(false).sort
end
class H
  define_singleton_method(:mk) { class_eval { private; def a = 1 }; def b = 2 }
  mk
  def c = 3
  p private_instance_methods(false).sort
end
class I
  def self.mk = protected
  mk
  def a = 1
  public
  def b = 2
  p protected_instance_methods(false), public_instance_methods(false)
end
module J
  def self.mk = module_function
  mk
  def a = 1
  p singleton_methods.sort
end
