class Meta
  %w[a b].each { |n| define_method("get_#{n}") { |x = 1| "#{n}#{x}" } }
  attr_writer :w
  [:x, :y].each { |s| attr_accessor s }
end
m = Meta.new
p m.get_a, m.get_b(5), m.public_send(:get_a, 2), Meta.instance_methods(false).sort, m.method(:get_a).arity
m.instance_variable_set(:@z, 9)
p m.instance_variable_get(:@z), m.instance_variable_defined?(:@q), m.instance_eval { @z + 1 }, Meta.class_eval { self }, m.instance_exec(5) { |v| @z * v }
m.define_singleton_method(:sing) { |v| v + @z }
p m.sing(1), m.singleton_methods, m.singleton_class.inspect[0, 10]
Meta.class_eval <<~R
  def from_string = :evaled
R
p m.from_string, Meta.method_defined?(:from_string), m.methods(false).sort, Meta.instance_method(:get_a).bind(m).call
p Object.const_get(:Meta), Meta.const_set(:C, 5), Meta::C, Meta.constants, Object.const_defined?("Meta::C"), Meta.name
class Ghost < BasicObject
  def method_missing(n, *a) = "#{n}(#{a.join(",")})"
  def respond_to_missing?(*) = true
end
puts Ghost.new.foo(1, 2), Ghost.new.inspect
class Meta
  alias_method :old_get, :get_a
  def get_a(*) = "new " + old_get
  remove_method :get_b
end
p m.get_a, m.respond_to?(:get_b), (m.get_b rescue $!.class)
o = Class.new { def ==(x) = true; def to_s = "custom" }.new
p o == 5, "#{o}", o != 5, o.eql?(o), o.equal?(o)
p send(:format, "%d", 5), [1, 2].send(:[], 0), 5.instance_of?(Integer), Integer === 5, 5.class.ancestors.include?(Comparable)
obj = Object.new
class << obj
  attr_accessor :prop
  def to_s = "singleton to_s"
end
obj.prop = 3
p obj.prop, obj.to_s, obj.singleton_methods.sort
p binding.local_variables.size > 3, self.to_s, self.class, __method__.inspect
mod = Module.new do
  def self.included(b) = b.define_method(:inc) { :included_dyn }
end
Meta.include(mod)
p m.inc, ObjectSpace.respond_to?(:garbage_collect), Meta.instance_methods.include?(:inc)
p Kernel.respond_to?(:fork, true), method(:puts).owner, 1.method(:+).unbind.class, [].method(:map).source_location.inspect
tp = []
class Trk
  def self.singleton_method_added(n) = ($trk ||= []) << n
  def self.foo = 1
  def self.const_missing(n) = "missing #{n}"
end
p $trk, Trk::Whatever, Trk.send(:private_class_method, :foo).inspect, (Trk.foo rescue $!.class)
p Meta.public_instance_method(:get_a).name, Meta.new.frozen?, Meta.allocate.class, Comparable.instance_methods.sort, m.itself.equal?(m), m.then { 1 }, m.tap { |x| x.x = 4 }.x
puts
p ObjectSpace::WeakMap.new.class, (Class.new.new.foo rescue $!.message[0, 30])
eval "p [__LINE__, __FILE__]", nil, "evalfile", 77
p TOPLEVEL_BINDING.class, caller.class, defined?(super).inspect, ENV.class, ARGV, $PROGRAM_NAME.class
