# A small word count, matrix, sieve and text table.
text = <<~T
  the quick brown fox jumps over the lazy dog
  the dog sleeps
T
freq = text.split.each_with_object(Hash.new(0)) { |w, h| h[w] += 1 }
freq.sort_by { |w, n| [-n, w] }.first(3).each { |w, n| puts format("%-6s %2d", w, n) }
sieve = (2..50).to_a
primes = []
until sieve.empty?
  primes << (q = sieve.shift)
  sieve.reject! { |x| (x % q).zero? }
end
p primes
def mul(a, b) = a.map { |r| b.transpose.map { |c| r.zip(c).sum { |x, y| x * y } } }
p mul([[1, 2], [3, 4]], [[5, 6], [7, 8]])
def hanoi(n, a, b, c) = n.zero? ? 0 : hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a)
p hanoi(8, :a, :b, :c)
def qsort(a)
  return a if a.size <= 1
  pivot, *rest = a
  l, r = rest.partition { |x| x < pivot }
  qsort(l) + [pivot] + qsort(r)
end
p qsort([3, 6, 1, 8, 2, 9, 2])
memo = Hash.new { |h, n| h[n] = n < 2 ? n : h[n - 1] + h[n - 2] }
p memo[80]
roman = { 1000 => "M", 900 => "CM", 500 => "D", 400 => "CD", 100 => "C", 90 => "XC", 50 => "L", 40 => "XL", 10 => "X", 9 => "IX", 5 => "V", 4 => "IV", 1 => "I" }
to_roman = ->(n) { roman.reduce(+"") { |s, (v, r)| s << r * (n / v); n %= v; s } }
p to_roman[1994], to_roman[2024]
Node = Struct.new(:v, :l, :r)
def insert(t, v) = t.nil? ? Node.new(v) : (v < t.v ? Node.new(t.v, insert(t.l, v), t.r) : Node.new(t.v, t.l, insert(t.r, v)))
def walk(t, &b) = t && (walk(t.l, &b); b.call(t.v); walk(t.r, &b))
tree = [5, 2, 8, 1, 9].reduce(nil) { |t, v| insert(t, v) }
out = []
walk(tree) { |v| out << v }
p out
class Stack
  def initialize = @a = []
  def push(x) = tap { @a.push(x) }
  def pop = @a.pop
  def rpn(s) = s.split.each { |t| t =~ /\d/ ? push(t.to_i) : (b, a = pop, pop; push(a.send(t, b))) }.then { pop }
end
p Stack.new.rpn("3 4 + 2 *"), (1..15).map { |i| i % 15 == 0 ? "FizzBuzz" : i % 5 == 0 ? "Buzz" : i % 3 == 0 ? "Fizz" : i }.join(" ")
grid = Array.new(5) { |y| Array.new(5) { |x| (x + y).even? ? "#" : "." } }
puts grid.map(&:join)
p "racecar".then { |s| s == s.reverse }, "listen".chars.sort == "silent".chars.sort, 1234.digits.reverse, "hello".each_char.zip(1..).map { |c, i| c * i }.join("-")
