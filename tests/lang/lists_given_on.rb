# Several values that a block was given as one element are an Array like any other when they are given on.
require "set"
class Several; include Enumerable; def initialize(*v) = @v = v; def each = @v.each { |x| yield(*x) }; end
kept = []
Several.new([1, 2], [3]).each_entry { |x| kept << x }
p kept
class One; include Enumerable; def initialize(v) = @v = v; def each = @v.each { |x| yield x }; end
l = Several.new([1, 2], [3, 4], []).to_a
p l
o = One.new(l)
p o.to_a, o.include?([1, 2]), o.first, o.first(2), o.each_with_index.to_a, o.group_by { |x| x }, o.partition { |x| x == [1, 2] },
  o.sort_by { |x| x.to_s }, o.min_by { |x| x.to_s }, o.each_entry.to_a, o.uniq, o.tally, o.each_slice(2).to_a, o.reduce { |a, b| [a, b] },
  o.map { |x| x }, o.map { |x, y| [x, y] }, o.map { |*x| x }, o.select { |x, y| y }, o.each_with_object([]).to_a, o.zip(o), o.find { |x, y| y == 4 },
  o.find_index([3, 4]), o.find_index { |x, y| y == 4 }, o.count([1, 2]), o.count { |x, y| y }, o.drop(1), o.take_while { |x, y| y }, o.drop_while { |x, y| y == 2 },
  o.chunk { |x| x.to_s.size }.to_a, o.slice_when { |a, b| a.to_s.size != b.to_s.size }.to_a, o.to_set.size, o.flat_map { |x, y| [x, y] }, o.filter_map { |x, y| y },
  o.all? { |x, y| y }, o.any?(Array), o.none? { |x, y| y == 9 }, o.one? { |x, y| y == 2 }, o.grep(Array), o.minmax_by { |x| x.to_s }, o.each_cons(2).to_a, o.cycle.first(4), o.lazy.map { |x, y| y }.to_a
p Several.new([1, 2]).to_h, One.new([[1, 2]]).to_h { |k, v| [v, k] }, One.new([l]).to_a
def all(*r) = r
m = method(:all)
p m.call(l), m.call(*l), m.unbind.bind_call(self, l[0]), m.to_proc.call(l[0]), :+.to_proc.call([1], l[0])
p send(:all, l[0]), public_send(:then) { |x| x.class }, __send__(:all, *l[0])
e = [4].each_with_object(l[0]); p e.to_a
p format("%p", [l[0]]), Struct.new(:a).new(l[0]).a, Class.new { define_method(:x) { |*a| a } }.new.x(l[0])
puts l[0], [l[0]]
p l[0], l.size
p({a: l[0]}.values_at(:a), {l[0] => 1}.fetch_values(l[0]), {l[0] => 1}.slice(l[0]), {l[0] => 1}.except(l[0]), {a: l[0]}.dig(:a, 1))
q = Queue.new; q << l[0]; p q.pop
f = Fiber.new { |*a| p a; Fiber.yield(l[0]); Fiber.yield(1, 2) }
p f.resume(l[0]), f.resume
e = Enumerator.new { |y| y.yield(1, 2); y << l[0]; y.yield(l[0]); y.yield([5]) }
p e.to_a, e.next, e.next, e.next, e.next, e.map { |a, b| b }, e.each_slice(3).to_a
a = Several.new([7, 8]).first
a << 9
p One.new([a]).to_a, One.new([a]).first, catch(:x) { throw :x, a }, [a].each_entry.to_a, a.dup, One.new([a.dup]).to_a
p Several.new([7, 8]).each_with_index { |x, i| x << i; p x }.class
# Thousands of values of a rest parameter that is passed on stay values.
many = Array.new(3000) { |i| [i] }
p [1].union(*many).size, [5, 9999].difference(*many), [7].concat(*many).size, [1].product(*Array.new(5) { [1] }).size
