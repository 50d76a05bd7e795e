# Arguments that may be left out: each number of them, by every way of calling, in frames of any depth.
def a(x, y = x + 1, z = y * 2) = [x, y, z]
p a(1), a(1, 5), a(1, 5, 7), (a() rescue $!.message), (a(1,2,3,4) rescue $!.message)
def b(x = (return :early if $0; 1), &blk) = [x, blk&.call]
p b, b(1), b(2) { 3 }
class K; attr_reader :v; def initialize(a = 1, b = a + 1) = @v = [a, b]; end
p K.new.v, K.new(5).v, K.new(5, 6).v, (K.new(1,2,3) rescue $!.message)
class L < K; def initialize(a, b = 9); super; end; end
p L.new(1).v, L.new(1, 2).v
def c(x = 1, y = binding.local_variables) = [x, y]
p c, c(3), c(3, 4)
def d(h = {}) = h
p d(a: 1), d({b: 2}), d
def e(n, acc = []) = n == 0 ? acc : e(n - 1, acc << n)
p e(5), e(2, [9])
f = method(:a); p f.call(1), f.(1, 2), send(:a, 3), [[1, 2], [3]].map { |x| a(*x) }
def g(a, b = a.tap { |x| x << 1 }) = [a, b]
p g([]), g([], 2)
def deep(n, m = n) = n == 0 ? 0 : 1 + deep(n - 1)
p deep(5000)
def w(a, b = raise(ArgumentError, "d")) = a
p (w(1) rescue $!.message + " " + $!.backtrace[0]), w(1, 2)
20.times { a(1); a(1, 2); a(1, 2, 3) }
p a(1), a(1, 2), a(1,2,3)
