# Code segments: how they are written, started, run, and end.
require "kumihimo/segments"
DS = Kumihimo::Segments.local
S = Kumihimo::Segments
CodeSegment = Kumihimo::CodeSegment

$stderr = File.open(File::NULL, "w")

def tell(label)
  value = yield
  puts "#{label}: #{value.inspect.gsub(/0x\h+/, "0x")}"
rescue Exception => e
  puts "#{label}: #{e.class}: #{e.message.gsub(/0x\h+/, "0x")}"
end

puts "-- one without inputs starts at once"
class Start < CodeSegment
  def run = put("out", :started)
end
tell("start") { Start.start.class }
tell("out") { DS.take("out") }
tell("new.start") { Start.new.start.join.class }
tell("execute") { Start.new.execute.join.ended? }
tell("out") { [DS.take("out"), DS.take("out")] }
tell("inspect") { Start.start.join }
DS.take("out")

puts "-- arguments are those of initialize"
class Add < CodeSegment
  input :a, take: "a"
  def initialize(b, times: 1, &block)
    @b = b
    @times = times
    @block = block
  end
  def run = put("sum", @block.call((a + @b) * @times))
end
DS.put("a", 1)
tell("start") { Add.start(2, times: 10) { |x| x + 0.5 }.join && DS.take("sum") }
tell("without") { Add.start }

puts "-- it waits for all its inputs"
class Both < CodeSegment
  input :left, take: "left"
  input :right, peek: :right
  def run = put("pair", [left, right])
end
both = Both.start
tell("waiting") { [both.ended?, S.stat[:waiting]] }
DS.put("left", 1)
tell("left is not taken yet") { DS.size("left") }
DS.put("right", 2)
tell("pair") { DS.take("pair") }
both.join
tell("left is gone, right stands") { [DS.size("left"), DS.take("right")] }
tell("ended") { both.ended? }

puts "-- inputs show key, index, value and more"
class Show < CodeSegment
  input :x, take: "x"
  input :y, peek: "y"
  def run
    put("seen", [[input(:x).key, input(:x).index, input(:x).value, input(:x).owned?, input(:x).deliveries], [input(:y).index, input(:y).shared?, y]])
  end
end
DS.put("x", [1], move: true)
DS.put("y", [2])
tell("seen") { Show.start.join && DS.take("seen") }
tell("no such input") { Class.new(Show) { def run = input(:z) }.tap { DS.put("x", 1) }.start.join }
tell("outside of run") { Show.new.input(:x) }
tell("outside of run, the accessor") { Show.new.x }
tell("put outside of run") { Show.new.put("x", 1) }
tell("flip outside of run") { Show.new.flip(:x) }
DS.take("x")

puts "-- a typed view"
Point = Struct.new(:pair) do
  def self.from_segment(pair) = new(pair.map(&:to_f))
end
class Typed < CodeSegment
  input :point, take: "point", as: Point
  input :text, take: "text", as: ->(v) { v }.class
  def run = put("view", [point, point.equal?(point), input(:point).value])
end rescue puts "#{$!.class}: #{$!.message}"
class Typed2 < CodeSegment
  input :point, take: "point", as: Point
  def run = put("view", [point.pair, point.equal?(point), input(:point).value])
end
DS.put("point", [1, 2])
tell("from_segment") { Typed2.start.join && DS.take("view") }
class Wrapped
  def initialize(value) = @value = value
  def twice = @value * 2
end
class Typed3 < CodeSegment
  input :w, take: "w", as: Wrapped
  def run = put("view", w.twice)
end
DS.put("w", 21)
tell("new") { Typed3.start.join && DS.take("view") }
class Typed4 < CodeSegment
  input :w, take: "w", as: Integer
  def run = w
end
DS.put("w", 21)

tell("a class that makes nothing of it") { Typed4.start.join }
tell("the segment came back") { [DS.take_segment("w").deliveries, DS.size("w")] }

puts "-- keys at run time"
class Keyed < CodeSegment
  input :x, take: nil
  input :y, peek: "none", after: 3
  def run = put("keyed", [input(:x).key, x, input(:y).key, y])
end
tell("without a key") { Keyed.start }
DS.put("p.7", :seven)
DS.put("q", 1)
DS.put("q", 2)
tell("set_key") { Keyed.new.set_key(:x, "p.7").set_key(:y, "q", 1).start.join && DS.take("keyed") }
DS.put("p.8", :eight)
tell("after:") { Keyed.new.set_key(:x, :"p.8").set_key(:y, DS.key("q"), after: 1).start.join && DS.take("keyed") }
tell("no such input") { Keyed.new.set_key(:z, "q") }
tell("a key that is none") { Keyed.new.set_key(:x, 1).set_key(:y, "q").start }
waiting = Keyed.new.set_key(:x, "p.9").set_key(:y, "q").start
tell("after the start") { waiting.set_key(:x, "p.10") }
tell("twice") { waiting.start }
DS.put("p.9", 9)
waiting.join
tell("anew after its end") { waiting.set_key(:x, "p.10").set_key(:y, "q").ended? }
DS.take("keyed")
DS.put("p.10", 10)
tell("a second run") { waiting.start.join && DS.take("keyed") }
DS.take("q") && DS.take("q")

puts "-- how a class may not be written"
tell("an input of no kind") { Class.new(CodeSegment) { input :x } }
tell("an input of both kinds") { Class.new(CodeSegment) { input :x, take: "a", peek: "b" } }
tell("two of one name") { Class.new(CodeSegment) { input :x, take: "a"; input :x, take: "b" } }
tell("a name that is none") { Class.new(CodeSegment) { input 1, take: "a" } }
tell("a name of a method") { Class.new(CodeSegment) { input :run, take: "a" } }
tell("a key that is none") { Class.new(CodeSegment) { input :x, take: 5 }.start }
tell("an after: that is none") { Class.new(CodeSegment) { input :x, take: "a", after: "1" }.start }
tell("dead letters of a key that is none") { Class.new(CodeSegment) { dead_letters 5 } }
tell("dead letters without tries") { Class.new(CodeSegment) { dead_letters "dead", tries: 0 } }
tell("without run") { Class.new(CodeSegment).start.join }

puts "-- subclasses have the inputs of their superclass"
class Base < CodeSegment
  input :a, take: "a"
  def run = put("sub", [self.class.name, a])
end
class Sub < Base
  input :b, take: "b"
  def run
    super
    put("sub", b)
  end
end
DS.put("a", 1)
DS.put("b", 2)
tell("both") { Sub.start.join && [DS.take("sub"), DS.take("sub")] }
tell("the superclass has its own") { DS.put("a", 3) && Base.start.join && DS.take("sub") }
tell("the same name again") { Class.new(Base) { input :a, take: "c" } }
tell("an input for a class that was started") { Base.input(:c, take: "c") }
tell("for one whose subclass was started") { Sub2 = Class.new(S2 = Class.new(CodeSegment) { def run = nil }); Sub2.start.join; S2.input(:c, take: "c") }

puts "-- two takes of one key get two segments; a take and a peek may have the same one"
class Two < CodeSegment
  input :first, take: "t"
  input :second, take: "t"
  input :head, peek: "t"
  def run = put("two", [first, second, head])
end
two = Two.start
DS.put("t", 1)
tell("one is not enough") { two.ended? }
DS.put("t", 2)
tell("two") { two.join && DS.take("two") }

puts "-- a block"
S.when(take: "order", peek: ["rates", "names"]) { |order, rates, names| put("bill", [order, rates, names, self.class.ancestors.include?(CodeSegment)]) }
DS.put("names", :names)
DS.put("rates", :rates)
DS.put("order", :order)
tell("bill") { DS.take("bill") }
tell("no inputs") { S.when { put("bill", 1) }.join && DS.take("bill") }
tell("no block") { S.when(take: "x") }
tell("flip in a block") { DS.put("order", :again) && S.when(take: "order") { flip "order", to: "bill" }.join && DS.take("bill") }
tell("input in a block") { DS.put("order", :third) && S.when(take: :order) { put("bill", [input("order").index, input(DS.key("order")).value]) }.join && DS.take("bill") }
tell("no such input") { S.when { flip "none" }.join }
tell("update in a block") { S.when { update("bill", 2) }.join && DS.take("bill") }
DS.take("rates") && DS.take("names")

puts "-- a segment may start others, and itself anew"
class Count < CodeSegment
  input :n, take: "n"
  def run
    if n == 0
      put("zero", true)
    else
      put("n", n - 1)
      Count.start
    end
  end
end
DS.put("n", 1000)
Count.start
tell("zero") { DS.take("zero") }
S.settle
tell("nothing is left") { S.stat.slice(:waiting, :ready, :running, :requests, :leases) }

puts "-- join, cancel"
tell("a join in time") { both = Both.start and both.join(timeout: 0.01) }
tell("cancel") { [both.cancel, both.ended?, both.inspect] }
tell("cancel again") { both.cancel }
tell("join of what was cancelled") { both.join.equal?(both) }
tell("what it waits for is nobody's") { [DS.stat("left")[:waiting], DS.stat("right")[:waiting]] }
tell("start after a cancel") { both.start and DS.put("left", 5) and DS.put("right", 6) and both.join and DS.take("pair") }
DS.take("right")
class Blocks < CodeSegment
  def run
    put("never", 1)
    DS.put("blocks", true)
    DS.take("unblock")
  end
end
blocks = Blocks.start
DS.take("blocks")
tell("cancel of what runs") { blocks.cancel }
tell("outputs appear at the end") { DS.size("never") }
tell("other runs go on") { Start.start.join && DS.take("out") }
joins = Array.new(3) { Thread.new { blocks.join } }
DS.put("unblock", 1)
tell("three joins") { joins.map { |t| t.value.equal?(blocks) } }
tell("the output") { DS.take("never") }

puts "-- a frozen one"
tell("frozen before the start") { Start.new.freeze.start.join.frozen? }
DS.take?("out")
tell("frozen, with inputs") { DS.put("a", 1) && Class.new(CodeSegment) { input :a, take: "a"; def run = put("frozen", a) }.new.freeze.start.join && DS.take("frozen") }
tell("frozen, with a view") { DS.put("point", [1, 2]); Typed2.new.freeze.start.join && DS.take("view") }
tell("a view of a second run") { t = Typed2.new; DS.put("point", [1, 2]); t.start.join; DS.put("point", [3, 4]); t.start.join; [DS.take("view"), DS.take("view")] }
tell("frozen, cancelled") { s = Both.new.freeze.start; [s.cancel, s] }
class Frozen < CodeSegment
  input :a, take: "a"
  def run = a == 1 ? raise(IOError, "cold") : Thread.current.kill
end
tell("frozen, raises") { DS.put("a", 1); Frozen.new.freeze.start.join }
tell("came back") { DS.take("a") }
tell("frozen, killed") { DS.put("a", 2); Frozen.new.freeze.start.join }
tell("came back") { DS.take("a") }
tell("stat") { S.settle; S.stat.slice(:waiting, :ready, :running, :requests, :leases) }

puts "-- one that is cancelled before its turn gives back what it took"
S.when { DS.take("turn") }
tell("cancelled") do
  50.times { |i| DS.put("turns", i) }
  all = Array.new(50) { S.when(take: "turns") { |x| put("turned", x) } }
  cancelled = all.count(&:cancel)
  DS.put("turn", 1)
  S.settle
  [cancelled + DS.size("turned"), (0...cancelled).all? { |i| DS.take_segment("turns").deliveries == 1 }, DS.size("turns"), S.stat[:leases]]
end
DS.take("turned") while DS.size("turned") > 0

puts "-- owners that are none"
tell("from:") { Class.new(CodeSegment) { input :a, take: "a", from: 5 } }
tell("a group") { Class.new(CodeSegment) { input :a, take: "a", from: S.group("g") } }
tell("on:") { S.when(take: "a") { put "b", 1, on: [] }.then { |s| DS.put("a", 1) && s.join } }
tell("came back") { DS.take("a") }
