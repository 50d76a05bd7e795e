# What becomes of a run that does not return, and of what it took.
require "kumihimo/segments"
DS = Kumihimo::Segments.local
S = Kumihimo::Segments
CodeSegment = Kumihimo::CodeSegment

def tell(label)
  value = yield
  puts "#{label}: #{value.inspect.gsub(/0x\h+/, "0x")}"
rescue Exception => e
  puts "#{label}: #{e.class}: #{e.message.gsub(/0x\h+/, "0x")}"
end

# What is written to standard error meanwhile.
def errors
  read, write = IO.pipe
  old = $stderr
  $stderr = write
  yield
  write.close
  read.read
ensure
  $stderr = old
end

class Fails < CodeSegment
  input :x, take: "x"
  input :y, peek: "y"
  def run
    put("out", 1)
    update("out", 2)
    raise ArgumentError, "no #{x}"
  end
end
puts "-- a run that raises puts nothing and reports; its inputs come back"
DS.put("x", :x)
DS.put("x", :z)
DS.put("y", :y)
text = errors { tell("join") { Fails.start.join } }
tell("the report") { text.lines.first(2).map { |l| l.sub(/\S+failure.rb:\d+/, "failure.rb") } }
tell("nothing was put") { DS.stat("out")[:last_index] }
tell("came back") { [DS.peek_segment("x"), DS.peek_segment("x").deliveries, DS.size("x")] }
errors { Fails.start.join rescue p $!.class }
tell("deliveries") { DS.take_segment("x").deliveries }
DS.take("x")
tell("join later") { s = nil; DS.put("x", 1); errors { s = Fails.start; S.settle }; s.join }
tell("inspect") { DS.put("x", 1); s = nil; errors { s = Fails.start; S.settle }; [s, s.ended?] }
DS.take("x") && DS.take("x")
$stderr = File.open(File::NULL, "w")

puts "-- an owned input comes back as the run left it"
class Spoils < CodeSegment
  input :list, take: "list"
  def run
    list << 4
    raise "spoilt"
  end
end
DS.put("list", [1, 2, 3], move: true)
tell("join") { Spoils.start.join }
tell("came back") { s = DS.take_segment("list"); [s.value, s.changed?, s.owned?, s.deliveries] }
DS.put("list", [1].freeze)
tell("a shared one can not be changed") { Spoils.start.join }
tell("came back") { s = DS.take_segment("list"); [s.value, s.changed?, s.owned?, s.deliveries] }

puts "-- dead letters"
class Letters < CodeSegment
  input :x, take: "x"
  input :y, peek: "y"
  dead_letters "dead", tries: 3
  def run = raise(KeyError, "not #{x}")
end
DS.put("x", [1, [2]])
3.times do |i|
  tell("try #{i + 1}") { Letters.start.join }
  tell("there") { [DS.size("x"), DS.size("dead")] }
end
tell("the letter") { DS.take("dead") }
tell("of a subclass") { DS.put("x", 5); sub = Class.new(Letters) { dead_letters "dead.sub" }; (sub.start.join rescue 0); DS.take("dead.sub")[:tries] }
tell("inherited") { DS.put("x", 5); sub = Class.new(Letters); 3.times { sub.start.join rescue 0 }; DS.take("dead")[:tries] }
class OwnLetters < CodeSegment
  input :x, take: "x"
  input :io, take: "io"
  dead_letters "dead"
  def run
    x << :changed
    raise "so"
  end
end
DS.put("x", [1], move: true)
DS.put("io", File.open(File::NULL), move: true)
tell("owned inputs") { (OwnLetters.start.join rescue 0); letter = DS.take("dead"); [letter[:inputs][:x], letter[:inputs][:io].class, letter.frozen?] }
tell("gone") { [DS.size("x"), DS.size("io")] }
class NoInputs < CodeSegment
  dead_letters "dead"
  def run = raise("nothing")
end
tell("without inputs") { (NoInputs.start.join rescue 0); DS.take("dead") }
class OddMessage < CodeSegment
  dead_letters "dead"
  class Odd < StandardError
    def message = raise("no message")
  end
  def run = raise(Odd)
end
tell("an error that has no message") { OddMessage.start.join rescue $!.class }
tell("the letter") { DS.take?("dead", :none) }

puts "-- what else may happen in a run"
def runs(&block)
  c = Class.new(CodeSegment) { input :x, take: "x" }
  c.define_method(:run, &block)
  DS.put("x", :x)
  c.start.join(timeout: 60)
ensure
  S.settle
  print "  "
  tell("x is") { DS.take?("x", :gone) }
end
tell("throw") { runs { throw :out } }
tell("Thread.current.kill") { runs { Thread.current.kill } }
tell("Thread.exit") { runs { Thread.exit } }
tell("killed from outside") { runs { t = Thread.current; Thread.new { t.kill }; sleep } }
tell("raise from outside") { runs { t = Thread.current; Thread.new { t.raise(IOError, "outside") }; sleep } }
tell("NoMemoryError") { runs { raise NoMemoryError } }
tell("Interrupt") { runs { raise NotImplementedError } }
tell("SystemStackError") { runs { raise SystemStackError, "deep" } }
tell("next") { runs { next 1 } }
tell("break") { runs { [1].each { break } } }
tell("return of a value that is not shareable") { runs { $stdin } }
tell("a Fiber's yield") { runs { Fiber.yield } }
tell("an error that is frozen") { runs { raise RuntimeError.new("cold").freeze } }
tell("StopIteration") { runs { raise StopIteration } }
tell("a time-out inside") { require "timeout"; runs { Timeout.timeout(0.01) { sleep } } }
tell("waiting for itself") { runs { join(timeout: 0.01) } }
tell("cancel of itself") { runs { put("c", cancel) } && DS.take("c") }
tell("start of itself") { runs { start } }
tell("settled inside of a run") { t = Thread.new { runs { put("more", 1) } }; t.value && DS.take("more") }
tell("ensure of a run") { runs { begin; raise "x"; ensure; put("never", 1); end } }
tell("never") { DS.size("never") }
tell("other runs go on") { CodeSegment.instance_method(:run) && Class.new(CodeSegment) { def run = put("fine", 1) }.start.join && DS.take("fine") }
tell("twenty runs killed") do
  20.times { runs { Thread.current.kill } } if false
  c = Class.new(CodeSegment) { input :x, take: "x"; def run = Thread.current.kill }
  DS.put("x", 1)
  20.times { c.start.join }
  DS.take_segment("x").deliveries
end
tell("stat") { S.stat.slice(:waiting, :ready, :running, :leases, :requests) }

tell("inputs that are refused") do
  c = Class.new(CodeSegment) do
    input :x, take: "x"
    input :y, peek: "y2"
    dead_letters "dead", tries: 1
    def run = put("never", 1)
  end
  DS.put("y2", [1], move: true)
  DS.put("x", 1)
  (c.start.join rescue puts $!.class)
  [DS.size("never"), DS.take("dead"), DS.take("y2")]
end

puts "-- values that can not be put"
tell("an IO") { DS.put("v", [1, [$stdin]]) rescue [$!.class, DS.size("v")] }
tell("a Proc") { DS.put("v", proc { 1 }) rescue $!.class }
tell("a Thread") { DS.put("v", { a: Thread.current }) rescue $!.class }
list = [+"a", $stdin]
tell("has frozen nothing") { (DS.put("v", list) rescue 0); [list.frozen?, list[0].frozen?] }
tell("nothing is there") { DS.stat("v")[:last_index] }
tell("in a run") { runs { put("v", $stdin) } rescue $!.class }
tell("put into oneself") { a = []; a << a; DS.put("v", a); DS.take("v").frozen? }
tell("move of what is frozen is shared") { DS.put("v", "a".freeze, move: true); DS.take_segment("v").owned? }
tell("move of an IO") { DS.put("v", File.open(File::NULL), move: true); DS.take("v").class }
tell("move: false") { DS.put("v", [1], move: false); DS.take_segment("v") }

# A letter says which of its inputs could not be kept: what stands there is not put back for them.
class Unkept < Kumihimo::CodeSegment
  input :x, take: "unkept.x"
  input :y, take: "unkept.y"
  dead_letters "unkept"
  def run = raise("no")
end
DS.put("unkept.x", [1, Mutex.new], move: true)
DS.put("unkept.y", 2)
Unkept.start.join rescue puts "unkept: #{$!.message}"
letter = DS.peek("unkept")
puts "unkept: #{letter[:lost]} of #{letter[:keys]}"
look = S.send(:const_get, :Look)
puts "unkept: #{[look.put_back("unkept", 1), DS.size("unkept"), DS.size("unkept.x"), DS.size("unkept.y"), look.forget("unkept", 1), DS.size("unkept")]}"
