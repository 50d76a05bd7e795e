# What is born outside the window and lies on the stack of a thread that leaves its worker is shared by then.
class P; attr_accessor :a; def initialize(i) = @a = [i]; end
$keep = []
def mk(i) = P.new(i)
2000.times { |i| $keep << mk(i); $keep.clear if i % 100 == 0 }
q = Queue.new
ts = 4.times.map { |k| Thread.new { s = 0; 3000.times { |i| o = mk(i); Thread.pass if i % 3 == 0; o.a << k; s += o.a.sum; $keep[k] = o if i % 7 == 0 }; q << s; s } }
p ts.map(&:value)
