# Methods, classes and code that nothing can reach die, and their rows are used again. A call site that ran one before
# never runs what came in its place, and what something can still reach stays.

def call_foo(o) = o.foo
def call_bar(o) = o.bar(2)
def read_x(o) = o.x

def churn(n = 40)
  n.times do |i|
    c = Class.new { define_method(:foo) { :"wrong #{i}" }; def bar(a) = "wrong #{a}"; attr_accessor :x }
    o = c.new
    o.foo
    o.bar(1)
    o.x = 1
    o.x
    s = Object.new
    def s.foo = "wrong"
    s.foo
    eval("def (Object.new).zap_#{i} = #{i}; ->(a) { a + #{i} }").call(1)
  end
end

# The same call sites see class after class.
answers = 30.times.map do |i|
  c = Class.new { define_method(:foo) { i }; class_eval("def bar(a) = a * #{i}"); attr_reader :x; def initialize(x) = @x = x }
  o = c.new(i)
  churn(5) if i % 5 == 0
  GC.start if i % 7 == 0
  [call_foo(o), call_bar(o), read_x(o)] == [i, 2 * i, i]
end
p answers.all?

# A method that is redefined while it runs.
class Redefined
  def self.again(n)
    class_eval "def foo = #{n}"
    self
  end
  def self.run
    class_eval "def self.run = :second"
    3.times { GC.start; 20.times { Class.new { def foo = :wrong }.new.foo } }
    [:first, new.foo, __method__]
  end
end
p 50.times.all? { |n| GC.start if n % 10 == 0; Redefined.again(n); call_foo(Redefined.new) == n }
p Redefined.run, Redefined.run

# What holds a method or code: a Method, an UnboundMethod, a Proc, a Fiber, a Thread, a Binding, a backtrace, a frame.
def make
  o = Object.new
  def o.foo(a = 1) = [:kept, a, __method__]
  o
end
held = {
  method: make.method(:foo),
  unbound: Class.new { def foo = :unbound }.instance_method(:foo),
  to_proc: make.method(:foo).to_proc,
  proc: eval("x = 5; ->(y) { [x, y, :in_eval] }"),
  nested: eval("->(a) { ->(b) { ->(c) { [a, b, c, :\"lit \#{a}\", 12345678901234567890, /re\#{b}/o] } } }").call(1),
  fiber: eval("Fiber.new { |a| b = Fiber.yield(a + 1); [:fiber, b] }"),
  binding: eval("q = 41; binding"),
  define_method: Class.new { define_method(:foo, &eval("-> { [:bm, 1] }")) },
  alias: Class.new { def a = :aliased; alias foo a; remove_method :a },
  super: Class.new(Class.new { def foo = [:super] }) { def foo = super + [:sub] },
  refinement: eval("Module.new { refine(String) { def shout_#{1} = upcase + '!' } }"),
  curry: eval("->(a, b, c) { a + b + c }").curry[1],
  enumerator: eval("Enumerator.new { |y| 3.times { |i| y << i * 10 } }").tap(&:next),
  lazy: eval("(1..).lazy.map { _1 * 7 }"),
  hash_default: eval("Hash.new { |h, k| h[k] = k * 3 }"),
  compose: eval("->(x) { x + 1 }") >> eval("->(x) { x * 2 }"),
  method_missing: Class.new { def method_missing(n, *a) = [n, a]; def respond_to_missing?(*) = true },
  struct: Struct.new(:a) { def twice = a * 2 }
}
error = begin
  eval("def self.fail_in_eval = raise('there')\nfail_in_eval", binding, "made_up.rb", 10)
rescue => e
  singleton_class.remove_method(:fail_in_eval)
  e
end
held[:fiber].resume(1)
gate, ready = Queue.new, Queue.new
thread = eval("Thread.new { ready << 1; gate.pop; [:thread, __method__] }")
ready.pop

4.times { churn; GC.start }
p held[:method].call, held[:method].unbind.name, held[:method].arity, held[:method].owner.singleton_class?
p held[:unbound].bind_call(Object.new) rescue p $!.class
p held[:to_proc].call(3)
p held[:proc].call(6), held[:nested].call(2).call(3)
p held[:fiber].resume(9), held[:binding].local_variable_get(:q), held[:binding].eval("q + 1")
p held[:define_method].new.foo, held[:alias].new.foo, held[:super].new.foo
p held[:curry][2][3], held[:enumerator].next, held[:lazy].first(3), held[:hash_default][5], held[:compose].call(4)
p held[:method_missing].new.anything(1), held[:struct].new(21).twice
p error.backtrace.first(2).map { _1[/.*:\d+/] }, error.backtrace_locations&.first&.lineno, error.message
gate << 1
p thread.value

# Visibility, aliases and removal leave rows behind that must not come back.
class Shapes
  100.times do |i|
    class_eval "def changing = #{i}; private def hidden = #{i}; public :hidden; alias other changing"
    remove_method(:other)
  end
  undef_method :hidden
end
churn
GC.start
s = Shapes.new
p s.changing, s.respond_to?(:hidden), s.respond_to?(:other), Shapes.instance_methods(false)
begin
  s.hidden
rescue NoMethodError => e
  puts e.message[/undefined method 'hidden'/]
end

# Constants are found again for a new place at an old place's address.
values = 60.times.map do |i|
  m = Module.new { const_set(:PLACE, i) }
  c = Class.new { include m; class_eval("def self.place = PLACE; def foo = self.class::PLACE") }
  GC.start if i % 10 == 9
  [c.place, c.new.foo] == [i, i]
end
p values.all?

# Threads that define and call beside each other.
results = 4.times.map do |t|
  Thread.new do
    60.times.map do |i|
      o = Object.new
      o.instance_eval("def foo = [#{t}, #{i}]")
      GC.start(full_mark: i % 20 == 0) if i % 10 == 0
      call_foo(o) == [t, i]
    end.all?
  end
end.map(&:value)
p results
