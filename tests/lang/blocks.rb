def one = yield(1)
def two = yield(1, 2)
def arr = yield([1, 2])
p one { |x| x }, one { |x, y| [x, y] }, two { |x| x }, two { |x, *y| [x, y] }, arr { |x| x }, arr { |x, y| [x, y] }, arr { |x, (y, z)| [x, y, z] }, arr { |*x| x }, arr { |x, y = 5, *z| [x, y, z] }
def blk(&b) = b
b = blk { |x, y = 2, *r, k: 1, **o, &bb| [x, y, r, k, o] }
p b.call(1), b.(1, 3, 4, k: 5, z: 6), b[1], b.arity, b.lambda?, b.parameters
l = lambda { |x, y = 1| [x, y] }
p l.(1), l.arity, l.lambda?, (l.call rescue "#{$!.class}: #{$!.message}")
c = 0
inc = -> { c += 1 }
3.times(&inc) rescue 3.times { inc.() }
p c
add = ->(x, y) { x + y }
p add.curry[1][2], (add.method(:call).unbind.class)
p (add >> ->(x) { x * 2 }).(1, 2), (->(x) { x + 1 } << ->(x) { x * 10 }).(1), [1, 2].map(&10.method(:+)), %w[a b].map(&:upcase)
def ret
  [1, 2, 3].each { |x| return x * 10 if x == 2 }
  :none
end
p ret
p [1, 2, 3].each_with_index.map { |x, i| next 0 if i == 1; x }
r = [1, 2, 3].each { |x| break x * 100 if x == 2 }
p r
def yielder
  return enum_for(:yielder) unless block_given?
  yield 1
  yield 2
  :done
end
p yielder.to_a, yielder { |x| x }, [[1, 2], [3, 4]].map { |a, b| a + b }, [[1, [2, 3]]].map { |a, (b, c)| a + b + c }
p proc { |x| x }.call(1, 2), proc { |x, y| [x, y] }.call([3, 4]), proc { || 5 }.call(1)
x = 10
[1].each { |i; x| x = i }
p x
counter = Enumerator.new { |yy| 3.times { |i| yy << i } }
p counter.next, counter.next, counter.next, (counter.next rescue $!.class)
