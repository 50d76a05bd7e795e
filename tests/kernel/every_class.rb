# One line for each core class that the other programs of this folder leave out.
class Blank < BasicObject
  def method_missing(name, *args) = [name, args]
  def respond_to_missing?(*) = true
end
p Blank.new.anything(1), Enumerable.instance_method(:map).class, Comparable.instance_method(:clamp).arity
p (1..3).lazy.map { |x| x * 2 }.to_a, Enumerator::Yielder.new { |x| x }.yield(4), ([1].each + [2].each).to_a
p Enumerator::Lazy, Enumerator::Chain, Numeric.new.integer?, Math.sqrt(16), :sym.size, Symbol === :a
m = /(?<a>.)(.)?/.match("xy")
p m.class == MatchData, m[:a], m.names, Regexp.escape("a.b"), Regexp.union("a", /b/)
p Range.new(1, 4, true).sum, Data.define(:x).new(x: 1), Proc.new { |x| x }.call(5)
p 5.method(:+).call(6), Integer.instance_method(:-).bind(9).call(2), Method === 1.method(:+), UnboundMethod
b = binding
b.local_variable_set(:late, 3)
p b.local_variable_get(:late), b.eval("late + 1"), Binding === b
begin
  raise Exception, "plain"
rescue Exception => e
  p e.message, e.backtrace.class, e.full_message(highlight: false).lines.size
end
p Signal.list["INT"], Signal.signame(15), Dir.exist?("."), Dir.children(".").class, File::Stat.new(".").directory?
p GC.count.class, GC.start, ObjectSpace.count_objects.class
mutex = Mutex.new
cond = ConditionVariable.new
queue = SizedQueue.new(1)
ready = false
t = Thread.new { mutex.synchronize { cond.wait(mutex) until ready; queue << :went } }
mutex.synchronize { ready = true; cond.signal }
p queue.pop, t.join.status, Queue.new.empty?
p Encoding.default_external.class, "é".encode("ISO-8859-1").bytes, Encoding::Converter.new("UTF-8", "UTF-16BE").convert("a").bytes
module Shout
  refine(String) { def shout = upcase + "!" }
end
using Shout
p "hi".shout, Shout.refinements.size, Refinement
p ARGF.class.to_s, Warning[:deprecated].class, Random.new(3).rand(10).class, Process.clock_gettime(Process::CLOCK_MONOTONIC).class
weak = ObjectSpace::WeakMap.new
key = "kept"
weak[key] = 1
GC.start
p weak[key], Set[1, 2].include?(2), Rational(1, 2) + Complex(1, 1), Struct.new(:a).new(1).to_a, Time.at(0).utc.year
p nil.to_a, true & false, false ^ true, Kernel.respond_to?(:puts), Module.new.class, Class.new.superclass, ENV.key?("PATH")
p Marshal.load(Marshal.dump([1, "a", { b: 2.5 }])), Fiber.new { 7 }.resume, catch(:x) { throw :x, 8 }, $stdout.class
