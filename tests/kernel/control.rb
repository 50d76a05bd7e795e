def gen(n)
  return to_enum(:gen, n) unless block_given?
  n.times { |i| yield "g#{i}", [i] }
end
p gen(3).to_a, gen(4).map { |s, (i)| s * i }, gen(5).lazy.select { |s, i| i[0].odd? }.map { |s, i| s }.to_a, gen(2).next
r = catch(:out) { gen(10) { |s, (i)| throw :out, s + "!" if i == 4 } }
p r
log = []
begin
  begin
    log << "a"
    raise ArgumentError, "x" * 3
  rescue TypeError
    log << "no"
  ensure
    log << "ensure"
  end
rescue => e
  log << e.message << e.class.name
  begin
    raise "second"
  rescue => f
    log << f.cause.message
  end
end
p log
fib = Fiber.new { |x| 5.times { |i| x = Fiber.yield("y#{i}#{x}") }; :end }
p 6.times.map { |i| fib.resume("r#{i}") }
q = Thread::Queue.new
ts = 3.times.map { |i| Thread.new { 5.times { |j| q << "t#{i}#{j}" } } }
ts.each(&:join)
p q.size, Array.new(q.size) { q.pop }.sort.first(3), Thread.new { [1, 2, 3].map { |v| v.to_s * 2 } }.value
case { name: "n" * 2, list: [1, [2, "three"]] }
in { name: String => n, list: [Integer => a, [b, *c]] } then p [n, a, b, c]
end
memo = Hash.new { |h, k| h[k] = k < 2 ? k : h[k - 1] + h[k - 2] }
p memo[40], (1..5).each_with_object("") { |i, s| s << i.to_s }, [[1, "a"], [2, "b"]].each_with_index.map { |(n, s), i| "#{n}#{s}#{i}" }
def kw(a, *r, k: "d#{a}", **o, &b) = [a, r, k, o, b && b.call(a)]
p kw("z"), kw(1, 2, k: 3, m: 4) { |v| "b#{v}" }, kw(*%w[q w e], **{ "s": 1 }), eval("[1, 2].map { |v| v + #{3} }"), binding.local_variables.size > 3
x = 10
add = ->(y) { x += y; "x#{x}" }
p add.(1), add.(2), [3, 4].map(&add), x, add.curry.arity, (add >> :upcase.to_proc).call(1)
def deep(n) = n == 0 ? [] : [deep(n - 1)]
p deep(50).flatten.size, deep(200).inspect.size, ("a".."zz").count, ObjectSpace.garbage_collect.inspect, 5.times.each_slice(2).include?([4])
