# A method that calls its block by name answers as one that yields, and so does one whose Proc#call is a program's.
def one(&b) = b.call(1)
def dot(&b) = b.(1, 2)
def none(&b) = b.call
def kw(&b) = b.call(1, a: 2)
def splat(*r, **k, &b) = b.call(*r, **k)
def list(&b) = b.call([1, 2])
def both(&b) = [b.call(3), [4].map(&b)]
def twice(&b)
  x = b.call(b.call(1))
  x + b.call(x)
end
def kept(&b)
  b.call(1)
  b
end
def inner(&b) = [1, 2].map { |x| b.call(x) }
def again(&b)
  b.call(1)
  b = proc { 9 }
  b.call(1)
end
def safe(&b) = b&.call(1)
def asked(&b) = b ? b.call(1) : :none
def given(&b) = block_given? ? b.call(1) : :none
def with(&b) = b.call(1) { 2 }
def ens(&b)
  b.call
ensure
  p :ensured
end
def opt(a = 5, &b) = b.call(a)
def eva(&b) = eval("b.call(7)")
def bind(&b)
  b.call(1)
  binding.local_variable_get(:b).class
end
def void(&b)
  b.call(1)
  i = 0
  while i < 2
    b.call(i)
    i += 1
  end
  nil
end
def t = p(yield)
2.times do
  t { one { |x| x + 1 } }
  t { dot { |x, y| [x, y] } }
  t { dot { |x| x } }
  t { none { :none } }
  t { kw { |x, a:| [x, a] } }
  t { kw { |x, y| [x, y] } }
  t { splat(1, 2, c: 3) { |*r, **k| [r, k] } }
  t { list { |x, y| [x, y] } }
  t { list { |x| x } }
  t { both { |x| x * 2 } }
  t { twice { |x| x + 1 } }
  t { kept { |x| x }.class }
  t { inner { |x| -x } }
  t { again { |x| x } }
  t { safe }
  t { safe { |x| x } }
  t { asked }
  t { asked { |x| x } }
  t { given }
  t { given { |x| x } }
  t { with { |x, &k| k.call } }
  t { ens { break 5 } }
  t { opt { |x| x } }
  t { eva { |x| x } }
  t { bind { |x| x } }
  t { void { |x| p x } }
  t { one { |x| next 8 } }
  t { one(&:succ) }
  t { one(&->(x) { x + 5 }) }
  t { list(&->(x) { x }) }
  t { (list(&->(x, y) { x }) rescue $!.message) }
  t { (dot(&->(x) { x }) rescue $!.message) }
  t { one(&method(:Integer)) }
  t { (one rescue [$!.class, $!.message]) }
  t { one { |x| one { |y| [x, y] } } }
  t { Object.new.instance_eval { one { |x| x } } rescue $!.class }
  t { Fiber.new { one { |x| Fiber.yield(x); 2 } }.then { |f| [f.resume, f.resume] } }
end
def back = one { |x| return [x, :back] }
t { back }
class Up; def m(&b) = b.call(1); end
class Down < Up; def m(&b) = super; end
class Down2 < Up; def m(&b) = [b.call(2), super]; end
t { Down.new.m { |x| x } }
t { Down2.new.m { |x| x } }
define_method(:dm) { |&b| b.call(1) } rescue self.class.define_method(:dm) { |&b| b.call(1) }
t { dm { |x| x } }
t { (one { raise "here" } rescue $!.backtrace_locations.map(&:lineno)) }
class Proc; alias own_call call; def call(*a) = [:mine, own_call(*a)]; end
t { one { |x| x } }
class Proc; alias call own_call; end
t { one { |x| x } }
def asks(&b) = b.call(1)
t { asks { |x| x } }
module Pre; def call(*a) = [:pre, super]; end
Proc.prepend(Pre)
t { asks { |x| x } }
module Pre; remove_method :call; end
t { asks { |x| x } }
module Shout; refine(Proc) { def call(*a) = "refined"; }; end
using Shout
def refd(&b) = b.call(1)
t { refd { |x| x } }
