# Stacks that grow and shrink under everything that keeps a place in them.

def deep(n) = n == 0 ? 0 : 1 + deep(n - 1)
puts "-- depth"
p deep(11_000), deep(30_000)
p Thread.new { deep(30_000) }.value
p Fiber.new { deep(30_000) }.resume
def blocks(n) = n == 0 ? [] : [n].each { |x| return [x] + blocks(n - 1) }
p blocks(2_000).size

puts "-- again and again: grown stacks, shallow ones, grown ones"
5.times { |i| print deep(i * 3_000), " ", deep(1), " " }
puts

puts "-- what points into a stack while it grows"
def keep(n, log, &blk)
  local = n
  add = ->(k) { local += k; local }
  deep(500)
  r = n == 0 ? blk.call(0) : keep(n - 1, log, &blk)
  add.(10)
  log << local if n % 20 == 0
  [r, local].max
end
log = []
outer = 5
p keep(100, log) { |x| outer += 1; deep(2_000); x + outer }
p log, outer
def nested_break(n)
  [1, 2, 3].each do |x|
    deep(n)
    [10, 20].each { |y| deep(n * 2); return x * y if x == 2 }
  end
end
p nested_break(400), nested_break(4_000)
p catch(:found) { 300.times { |i| deep(i * 10); throw :found, i if i == 150 } }
def opt(a, b = deep(3_000), *rest, k: deep(4_000), **opts, &blk) = [a, b, rest, k, opts, blk&.call(deep(1))]
p opt(1), opt(1, 2, 3, k: 4, z: 5) { |x| x + 1 }
p (1..5).inject { |a, b| deep(1_000 * b) + a }
p [3, 1, 2].sort { |a, b| deep(2_500); a <=> b }
b = binding
local = 7
p eval("deep(5_000) + local", b)
x = define_singleton_method(:dyn) { |n| n == 0 ? deep(6_000) : dyn(n - 1) }
p x, dyn(50)
class Later
  def method_missing(name, *args) = args[0] == 0 ? name : __send__(name, args[0] - 1)
  def respond_to_missing?(*) = true
end
p Later.new.any(200)
p "#{deep(7_000)} #{"#{deep(8_000)}"}"

puts "-- fibers and enumerators of all depths"
fibers = 20.times.map { |i| Fiber.new { |v| 3.times { |k| v = Fiber.yield(deep(i * 300 + k) + v) }; deep(v) } }
p fibers.map { |f| f.resume(1) }.sum
p fibers.map { |f| f.resume(2) }.sum
p fibers.map { |f| f.resume(3) }.sum
e = Enumerator.new { |y| 5.times { |i| deep(i * 1_000); y << i } }
p e.next, e.next, deep(10_000), e.next, e.peek
def yielding(n, &b) = n == 0 ? b.call(:bottom) : yielding(n - 1, &b)
f = Fiber.new { yielding(3_000) { |x| Fiber.yield(x) + 1 } }
p f.resume, deep(9_000), f.resume(41)
