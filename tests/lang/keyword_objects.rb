# What calls with keywords allocate: the Hash that somebody keeps, no other. And what is kept is the callee's alone.
require_relative "../support/allocations"
def none(a: 0, b: 0) = nil
def rest(**o) = o
def both(a: 0, **o) = o
def positional(o) = o
def on(**) = none(**)
def on_rest(**) = rest(**)
def all(...) = none(...)
def args(a, b) = nil
def yields = yield(1, 2)
class Up; def k(a: 0, **o) = nil; def z(a, b) = nil; def a(a: 0, b: 0) = nil; end
class Down < Up; def k(a: 0, **o) = super; def z(a, b) = super; def a(a: 0, b: 0) = super; end
class Made; def initialize(a: 0, **o) = @o = o; end
class Missing; def method_missing(n, **o) = nil; def respond_to_missing?(*) = true; end
D, M = Down.new, Missing.new
H, EMPTY, A = {a: 1, b: 2}.freeze, {}.freeze, [1, 2].freeze
FORMS = {
  "none(a: 1)" => 0, "none(**H)" => 0, "none(**EMPTY)" => 0, "none(a: 1, **H)" => 1, "rest(a: 1)" => 1, "rest(**H)" => 1, "rest" => 1,
  "both(a: 1)" => 1, "both(a: 1, c: 2)" => 1, "both(**H)" => 1, "positional(a: 1)" => 1, "positional(**H)" => 1,
  "on(a: 1)" => 1, "on" => 0, "on(**H)" => 1, "on_rest(a: 1)" => 2, "all" => 1, "args(*A)" => 0,
  "D.k(a: 1)" => 3, "D.z(1, 2)" => 0, "D.a(a: 1)" => 1, "send(:none, **H)" => 0, "Made.new(a: 1)" => 2, "Made.new(c: 1)" => 2, "M.foo(a: 1)" => 1,
  "yields { |a, b| a }" => 0, "yields { |a| a }" => 0,
}
report_allocations(FORMS)

# A Hash that went as it is stays what it was.
h = {a: 1}
[rest(**h), positional(**h), both(c: 2, **h), on_rest(**h), send(:rest, **h), method(:rest).(**h), proc { |**o| o }.(**h), ->(**o) { o }.(**h),
 [].push(**h)[0], Fiber.new { |**o| o }.resume(**h), Thread.new(**h) { |**o| o }.value, Struct.new(:x).new(1, **{}).to_h].each { |o| o[:z] = 1 }
p h, rest(**H).frozen?
# What the caller does after the call begins is not the callee's.
t = Thread.new(**h) { |**o| sleep 0.01; o }
h[:late] = 1
p t.value
def block(**o, &b) = o
p block(**h, &(h.delete(:late); nil)), h
p rest(**nil), (rest(**1) rescue $!.message)
o = Object.new
def o.to_hash = {k: 1}
p rest(**o), both(**o), (none(**o) rescue $!.message), (none(**{"s" => 1}) rescue $!.message), rest(**{"s" => 1})
