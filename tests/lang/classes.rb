class Animal
  attr_accessor :name
  attr_reader :age
  SOUND = "..."
  @@count = 0
  @registry = []
  class << self
    attr_reader :registry

    def create(*args) = new(*args).tap { |a| @registry&.push(a.name) }
  end

  def initialize(name, age = 1)
    @name = name
    @age = age
    @@count += 1
  end

  def self.count = @@count
  def speak = "#{name}: #{self.class::SOUND}"
  def <=>(other) = age <=> other.age
  include Comparable
  def to_s = "#{self.class}(#{name})"
  protected def secret = 42
  def peek(o) = o.secret

  private

  def hidden = 1
end

class Dog < Animal
  SOUND = "Woof"
  def initialize(name, age = 2, trick: nil)
    super(name, age)
    @trick = trick
  end

  def speak = super + "!"
end
d = Dog.new("Rex", 3, trick: :roll)
a = Animal.create("Cat")
puts d, d.speak, a.speak
p Animal.count, Animal.registry, d > a, [d, a].min.name, d.clamp(a, a).name, d.peek(a), Dog.superclass, Dog.ancestors.first(3), Dog.instance_methods(false).sort
%i[hidden secret nope].each do |m|
  d.public_send(m)
rescue NoMethodError => e
  puts e.message
end
p d.instance_variables, d.instance_variable_get(:@trick), d.is_a?(Animal), d.instance_of?(Animal), Dog === d, d.respond_to?(:hidden), d.frozen?, Dog.name, Dog.class
o = Object.new
def o.single = :s
p o.singleton_methods, o.single, o.singleton_class.instance_methods(false)
class Dog
  def extra = :reopened
  undef_method :peek
end
p d.extra, (d.peek(a) rescue $!.class), defined?(d.extra), defined?(Dog), defined?(@@x), defined?(zork)
k = Class.new(Animal) { def speak = "anon" }
p k.new("x").speak, k.name, (Named = k).name, k.to_s
p Dog.instance_method(:speak).owner, Dog.method_defined?(:speak), Animal.private_method_defined?(:hidden), Dog.const_get(:SOUND), Animal.class_variable_get(:@@count), Animal.class_variables
e = d.dup
e.name = "Copy"
p d.name, e.name, d.clone.frozen?, d.freeze.frozen?, (begin; d.name = "x"; rescue => err; err.class; end)
p Comparable.instance_method(:clamp).class, BasicObject.superclass, Class.superclass, Module.superclass, Object.new.then { |x| x.class }
