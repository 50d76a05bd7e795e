# SystemStackError wherever it can strike: an exception like others.

def deep(n) = n == 0 ? 0 : 1 + deep(n - 1)
def runaway(n) = runaway(n + 1)
def overflow
  yield
  "returned"
rescue SystemStackError => e
  e.message
end

puts "-- overflow is an exception like others"
p overflow { runaway(0) }
p 3.times.map { overflow { runaway(0) } }.uniq
begin
  runaway(0)
rescue SystemStackError => e
  p e.class.ancestors.include?(StandardError)
  p e.backtrace.size > 5_000, e.backtrace.first == e.backtrace[1], e.backtrace.last.include?("<main>")
  p e.backtrace_locations.first.label
end
p Thread.new { overflow { runaway(0) } }.value
p Fiber.new { overflow { runaway(0) } }.resume
f = Fiber.new { 3.times { Fiber.yield overflow { runaway(0) } }; :end }
p 4.times.map { f.resume }
t = Thread.new { runaway(0) }
t.report_on_exception = false
begin
  t.value
rescue SystemStackError => e
  p [:joined, e.message]
end
f = Fiber.new { runaway(0) }
begin
  f.resume
rescue SystemStackError => e
  p [:resumed, e.message, f.alive?]
end

puts "-- ensure runs next to the limit, and can call something"
$ran = 0
$worked = 0
def guarded(n)
  guarded(n + 1)
ensure
  $ran += 1
  $worked += 1 if [3, 1, 2].sort.map { |x| x * 2 }.sum == 12
end
p overflow { guarded(0) }
p $ran > 1_000, $ran - $worked
$ran = 0
def retried(n)
  $ran += 1
  retried(n + 1)
rescue SystemStackError
  $ran.to_s.size.clamp(0, 9)
  raise
end
p overflow { retried(0) }
p $ran > 1_000
p overflow { define_singleton_method(:dm) { |n| dm(n + 1) }; dm(0) }
p overflow { l = ->(n) { l.(n + 1) }; l.(0) }
p overflow { h = Hash.new { |hh, k| hh[k + 1] }; h[0] }
p overflow { m = Class.new { def method_missing(n, *) = other(1); def respond_to_missing?(*) = true }; m.new.x }
p overflow { def kw(a:, b: 1) = kw(a: b, b: a); kw(a: 1) }
p overflow { def blk(&b) = blk(&b); blk { 1 } }
p overflow { def each; yield 1; end; def it_over = each { it_over }; it_over }

puts "-- many at once"
p 50.times.map { Thread.new { overflow { runaway(0) } } }.map(&:value).tally
def passing(n) = (Thread.pass if n % 500 == 0; passing(n + 1))
p 20.times.map { Thread.new { overflow { passing(0) } } }.map(&:value).tally
p deep(10_000)
