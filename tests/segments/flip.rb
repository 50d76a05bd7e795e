# Handing on: who may change a value, and flip.
require "kumihimo/segments"
DS = Kumihimo::Segments.local
CodeSegment = Kumihimo::CodeSegment
$stderr = File.open(File::NULL, "w")

def tell(label)
  value = yield
  puts "#{label}: #{value.inspect.gsub(/0x\h+/, "0x")}"
rescue Exception => e
  puts "#{label}: #{e.class}: #{e.message.gsub(/0x\h+/, "0x")}"
end

puts "-- a shared value is frozen, deeply"
list = [+"a", [+"b"], { c: +"d" }]
DS.put("s", list)
taken = DS.take("s")
tell("the value") { taken }
tell("frozen") { [taken.frozen?, taken[0].frozen?, taken[1].frozen?, taken[2][:c].frozen?] }
tell("a change") { taken << 1 }

puts "-- an owned one may be changed by its taker"
DS.put("s", [+"a", [+"b"]], move: true)
taken = DS.take("s")
tell("changed") { taken[1] << "c"; taken[0] << "!"; taken << 1 }
tell("and handed on") { DS.put("s", taken, move: true); DS.take("s") << 2 }
tell("put as a shared one") { DS.put("s", DS.tap { |ds| ds.put("s", [3], move: true) }.take("s")); DS.peek("s").frozen? }
DS.take("s")
tell("update may move") { DS.put("s", 1); DS.update("s", [1], move: true); DS.take_segment("s") }
Pair = Struct.new(:left, :right)
Place = Data.define(:x, :y)
class Thing
  attr_accessor :name, :parts
  def initialize(name, parts) = (@name, @parts = name, parts)
  def ==(other) = other.is_a?(Thing) && [name, parts] == [other.name, other.parts]
  def inspect = "#<Thing #{name} #{parts}>"
end
[+"text", { a: [1] }, Pair.new(1, +"x"), Place.new(1, [2]), Thing.new(+"t", [1]), 1..2, 1.5, :sym, 2**80, "binary\xff".b, Time.at(0).utc, Set[1, 2], /x/, nil, Class].each do |value|
  shown = value.inspect
  DS.put("s", value, move: true)
  owned = DS.take_segment("s")
  kind = owned.owned?
  DS.put("s", owned.value)
  shared = DS.take_segment("s")
  puts "#{shown}: #{kind ? "owned" : "shared"}, then #{shared.value.inspect}, frozen: #{shared.value.frozen?}"
end

puts "-- flip"
class Flip < CodeSegment
  input :part, take: "part"
  def run
    part << part.size
    flip :part, to: "whole"
  end
end
DS.put("part", [], move: true)
tell("flip") { Flip.start.join && DS.take_segment("whole") }
class Round < CodeSegment
  input :part, take: "part"
  def run
    part << part.size
    flip :part
  end
end
DS.put("part", [], move: true)
5.times { Round.start.join }
tell("under its own key") { s = DS.take_segment("part"); [s.index, s.value, s.owned?, s.deliveries] }
class FlipUpdate < CodeSegment
  input :part, take: "part"
  def run = flip(:part, to: "whole", update: true)
end
DS.put("whole", :old)
DS.put("part", [1], move: true)
tell("as an update") { FlipUpdate.start.join && [DS.size("whole"), DS.take("whole")] }
class FlipShared < CodeSegment
  input :a, take: "a"
  input :b, peek: "b"
  def run
    flip :a, to: "c"
    flip :b, to: "c"
    flip :b, to: "d"
  end
end
DS.put("a", [1])
DS.put("b", [2])
tell("of shared ones") { FlipShared.start.join && [DS.take_segment("c"), DS.take_segment("c"), DS.take_segment("d"), DS.take_segment("b")] }
class FlipPeekedOwned < CodeSegment
  input :b, peek: "b"
  def run = flip(:b, to: "c")
end
DS.put("b", [2], move: true)
tell("of an owned one that is peeked at") { FlipPeekedOwned.start.join }
tell("it is there still") { DS.take_segment("b") }
class ShowPeekedOwned < CodeSegment
  input :b, peek: "b"
  def run = put("c", [b, input(:b)])
end
DS.put("b", [2], move: true)
tell("reading it") { ShowPeekedOwned.start.join }
DS.take("b")
tell("an input that is none") { DS.put("part", 1); Class.new(Flip) { def run = flip(:parts) }.start.join }
tell("a key that is none") { Class.new(Flip) { def run = flip(:part, to: 7) }.start.join }
tell("the part") { DS.take("part") }

puts "-- a run that raises after a flip has flipped nothing"
class FlipRaise < CodeSegment
  input :part, take: "part"
  def run
    part << :more
    flip :part, to: "whole"
    raise "no"
  end
end
DS.put("part", [1], move: true)
tell("join") { FlipRaise.start.join }
tell("whole") { DS.size("whole") }
tell("part") { s = DS.take_segment("part"); [s.value, s.owned?, s.changed?] }

puts "-- put, update and flip appear in their order, together with the end of what was taken"
class Many < CodeSegment
  input :x, take: "x"
  def run
    put("y", 1)
    put("y", 2)
    update("y", 3)
    flip :x, to: "y"
    put("y", [4], move: true)
    put("y", 5, not_before: 0.01)
    put("z", 1, ttl: 100)
    DS.put("seen", [DS.size("y"), DS.stat("x")[:leased]])
  end
end
DS.put("x", :x)
tell("before the end") { Many.start.join && DS.take("seen") }
tell("after") { [DS.size("x"), Array.new(5) { DS.take("y", timeout: 5) }, DS.take("z")] }
tell("outputs enter a full queue all the same") { DS.limit("y", 1); DS.put("x", 1); Many.start.join; DS.limit("y", nil); DS.stat("y").values_at(:segments, :delayed).sum }

puts "-- an owned input is flipped once, a shared one as often as one likes"
class Twice < CodeSegment
  input :x, take: nil
  def run
    2.times { |i| flip :x, to: "once #{i}" }
  rescue Ractor::MovedError => error
    put "said", error.message
  end
end
[[1], :shared].each do |value|
  DS.put("x", value.dup, move: true)
  twice = Twice.new.set_key(:x, "x").start.join
  tell("there") { [DS.take("once 0"), DS.take?("once 1", :none), DS.take?("said")] }
  # The same object once more.
  DS.put("x", value.dup, move: true)
  twice.start.join
  tell("again") { [DS.take("once 0"), DS.take?("once 1", :none), DS.take?("said")] }
end
DS.put("x", [1], move: true)
tell("of a block") { Kumihimo::Segments.when(take: "x") { 2.times { flip "x", to: "once 0" } }.join }
tell("it is back") { [DS.take("x"), DS.size("once 0")] }
DS.put("x", [1], move: true)
tell("its value is moved") { Kumihimo::Segments.when(take: "x") { flip "x", to: "once 0"; input("x").value << 2 }.join }
tell("it is back") { [DS.take("x"), DS.size("once 0")] }
tell("and nothing else of it") { DS.put("x", [1], move: true); Kumihimo::Segments.when(take: "x") { flip "x", to: "once 0"; put "said", input("x").index.class }.join; [DS.take("once 0"), DS.take("said")] }
class PutOn < CodeSegment
  input :x, take: nil
  def initialize(fails) = @fails = fails
  def run
    put "on", x, move: true
    raise "no" if @fails
    put "said", (flip(:x) rescue $!.message)
  end
end
DS.put("x", [1], move: true)
tell("put by move:, and the run fails") { PutOn.new(true).set_key(:x, "x").start.join }
tell("it is back") { [DS.take("x"), DS.size("on")] }
DS.put("x", [2], move: true)
tell("it does not fail") { PutOn.new(false).set_key(:x, "x").start.join; [DS.take("on"), DS.take("said"), DS.size("x")] }
require "tmpdir"
Dir.mktmpdir do |folder|
  file = Kumihimo::Segments.open("#{folder}/flip.db")
  of_file = Class.new(CodeSegment) do
    input :x, take: "x", from: file
    def run = 2.times { flip :x, to: "once 0" }
  end
  file.put("x", [1], move: true)
  tell("of a file's") { of_file.start.join }
  tell("it is back there") { [file.take("x"), file.size("once 0")] }
  DS.put("x", [2], move: true)
  tell("to a file") { Kumihimo::Segments.when(take: "x") { 2.times { flip "x", on: file } }.join }
  tell("it is back here") { [DS.take("x"), file.size("x")] }
  moved = Class.new(of_file) do
    def run
      flip :x
      put "said", input(:x).value, move: true
    end
  end
  file.put("x", [3], move: true)
  tell("its value is moved there") { moved.start.join }
  tell("it is back there") { file.take("x") }
  put_on = Class.new(PutOn) { input :y, take: "x", from: file }
  put_on.class_eval { def x = y }
  DS.put("z", 1)
  file.put("x", [4], move: true)
  tell("put by move: there, and the run fails") { put_on.new(true).set_key(:x, "z").start.join }
  tell("it is back there") { file.take("x") }
  file.close
end
