# Fibers, enumerators, locals, recursion, collections and objects in many threads.
def together(n)
  go = false
  ts = n.times.map { |i| Thread.new { Thread.pass until go; yield i } }
  go = true
  ts.map(&:value)
end
T = 5

r = together(T) { |t| f = Fiber.new { |x| 50.times { x = Fiber.yield(x + t) }; :end }; 50.times.map { |i| f.resume(i) - i }.uniq << f.resume(0) }
p [:fibers, r]
r = together(T) { |t| 60.times.sum { |i| Fiber.new { Fiber.yield i; 1 }.then { |f| f.resume; f.resume } } }
p [:many_fibers, r]
r = together(T) { |t| e = (1..100).each; 100.times.sum { e.next } }
p [:next, r]
r = together(T) { |t| e = Enumerator.new { |y| a, b = 0, 1; loop { y << a; a, b = b, a + b } }; [e.take(20).last, e.next, e.next, e.peek, e.lazy.select(&:even?).first(3)] }
p [:generators, r.uniq]
f = Fiber.new { Fiber.yield 1; 2 }
f.resume
r = together(T) { begin; f.resume; :resumed; rescue FiberError => e; e.class; end }
p [:foreign, r.uniq]

r = together(T) { |t| c = Thread.current; 60.times { |i| c[:"k#{i}"] = t; c.thread_variable_set("v#{i}", t) }; 60.times.all? { |i| c[:"k#{i}"] == t && c.thread_variable_get("v#{i}") == t } }
p [:locals, r.uniq, Thread.current.keys.size]
def match(t) = 60.times.all? { |i| "t#{t}i#{i}" =~ /t(\d)i(\d+)/; Thread.pass if i % 9 == 0; $1 == t.to_s && $2 == i.to_s }
p [:last_match, together(T) { |t| match(t) }.uniq]

ts = T.times.map { |t| Thread.new { 60.times.all? { |i| "t#{t}i#{i}" =~ /t(\d)i(\d+)/; Thread.pass if i % 9 == 0; $1 == t.to_s && $2 == i.to_s } } }
p [:own_match, ts.map(&:value).uniq]

def sum_to(n) = n == 0 ? 0 : n + sum_to(n - 1)
p [:deep, together(T) { sum_to(4000) }.uniq]
def forever(n) = forever(n + 1) + 1
p [:too_deep, together(3) { begin; forever(0); rescue SystemStackError => e; e.class; end }.uniq]
p [:after, together(T) { sum_to(500) }.uniq]
r = together(T) { |t| x = []; add = ->(n) { n == 0 ? x << t : add.(n - 1) }; 20.times { add.(50) }; x.uniq }
p [:closures, r]
n = 0
counts = together(T) { |t| k = 0; inc = -> { k += 1 }; 500.times { inc.() }; k }
p [:captured, counts]

together(T) { |t| 4.times { GC.start; 200.times { |i| [i, "s#{i}", { i => [i] }] } } }
p [:collections, GC.count > 0]
class Tracked; def initialize(n) = @n = n; attr_reader :n; end
keep = together(T) { |t| 40.times.map { |i| Tracked.new(t * 40 + i) } }.flatten
r = together(T) { |t| ObjectSpace.each_object(Tracked).map(&:n).sort.uniq.size }
p [:each_object, r.uniq, keep.size]
$finalized = Queue.new
together(T) { |t| 40.times { |i| o = Object.new; ObjectSpace.define_finalizer(o, proc { |id| $finalized << id }); o = nil } }
together(T) { 3.times { GC.start } }
p [:finalizers, $finalized.size <= 200, $finalized.size > 0]
ids = $finalized.size.times.map { $finalized.pop }
p [:once, ids.uniq.size == ids.size]
o = Object.new
together(T) { |t| 20.times { ObjectSpace.define_finalizer(o, proc { }) ; ObjectSpace.undefine_finalizer(o) } }

r = together(T) { |t| 20.times.map { |i| Marshal.load(Marshal.dump([t, { "i" => i }, :sym, 1.5])) == [t, { "i" => i }, :sym, 1.5] }.uniq }
p [:marshal, r.uniq]
r = together(T) { |t| 60.times.map { |i| format("%03d-%s-%.2f", i, t, i / 3.0) }.uniq.size }
p [:format, r.uniq]
r = together(T) { |t| 60.times.map { |i| (2**200 + t) * (3**80 - i) % 1_000_007 }.sum }
p [:bignum, r.uniq.size]
r = together(T) { |t| 30.times.map { |i| Regexp.new("(a+)#{i}").match("xaaa#{i}")[1] }.uniq }
p [:regexp, r.uniq]
r = together(T) { |t| 60.times.map { rand(1000) }.all?(0...1000) }
p [:random, r.uniq, together(T) { |t| Random.new(t % 2).rand(10**9) }.uniq.size]
r = together(T) { |t| 30.times.map { |i| eval("x = #{i}; x + #{t}") - i }.uniq }
p [:eval, r]
r = together(T) { |t| b = binding; 30.times { |i| b.local_variable_set(:"lv#{i % 5}", i) }; b.local_variables.grep(/lv/).size }
p [:binding, r.uniq]
r = together(T) { |t| 30.times.map { Thread.new { Thread.current }.value.status }.uniq }
p [:threads, r.uniq]
p [:list, together(T) { Thread.list.size >= 1 }.uniq]
r = together(T) { |t| Thread.new { Thread.new { Thread.new { t }.value }.value }.value }
p [:nested, r]
r = together(T) { |t| 20.times.map { |i| Time.at(i * 86400).utc.strftime("%F") }.uniq.size }
p [:time, r.uniq]
p [:comparable, together(T) { [3, 1, 2].sort_by { -_1 }.minmax }.uniq]
th = 200.times.map { |i| Thread.new { sleep 0.001 * (i % 7); i } }
p [:sleepers, th.sum(&:value)]
p [:tap, together(T) { |t| tp = []; TracePoint.new(:call) { |x| tp << x.method_id }.enable(target: method(:sum_to)) { sum_to(2) } rescue []; 1 }.uniq]
