# Code segments whose inputs and outputs are in a store.
require "kumihimo/segments"
S = Kumihimo::Segments
STORE = S.connect(ARGV[0])
OTHER = S.connect(ARGV[0])

class Add < Kumihimo::CodeSegment
  input :a, take: "a", from: STORE
  input :b, take: "b", from: STORE
  input :rate, peek: "rate", from: STORE

  def run
    put "sum", (a + b) * rate, on: STORE
    put "log", [:sum, a, b], on: STORE
  end
end

add = Add.start
OTHER.put("rate", 10)
OTHER.put("a", 1)
OTHER.put("b", 2)
add.join
p OTHER.take("sum"), OTHER.take("log"), OTHER.stat("a"), OTHER.size("rate")

# As many outputs as elsewhere.
class Deal < Kumihimo::CodeSegment
  input :many, take: "many", from: STORE
  def run = many.times { |i| put i.even? ? "even" : "odd#{i}", i, on: STORE }
end
OTHER.put("many", 3_000)
Deal.start.join
p 1_500.times.all? { |i| OTHER.take?("even") == i * 2 }, OTHER.keys("odd").size, OTHER.size("even")
3_000.times { |i| OTHER.take?("odd#{i}") if i.odd? }
OTHER.put("many", 70_000)
($stderr = File.open(File::NULL, "w")) and (Deal.start.join rescue puts $!.message[/a run.*/])
$stderr = STDERR
p OTHER.take("many"), OTHER.size("even")

# {A, B} and {B, A} in two programs' ways.
class Back < Kumihimo::CodeSegment
  input :b, take: "b", from: OTHER
  input :a, take: "a", from: OTHER
  def run = put("sum", a - b, on: OTHER)
end
both = [Add.start, Back.start]
# Whoever of them comes first: each sum is the same.
2.times { STORE.put("a", 0); STORE.put("b", 0) }
both.each(&:join)
p STORE.take("sum"), STORE.take("sum")
STORE.take("log")

# A run that fails gives back what it has taken, and then leaves it to the dead letters.
class Fails < Kumihimo::CodeSegment
  input :job, take: "job", from: STORE
  dead_letters "dead", tries: 3
  def run = raise("no")
end
STORE.put("job", 7)
3.times { Fails.start.join rescue nil }
p STORE.size("job"), OTHER.take("dead")

# An owned input comes back as it was left.
class Spoils < Kumihimo::CodeSegment
  input :list, take: "list", from: STORE
  def run
    list << 4
    raise "no"
  end
end
$stderr = File.open(File::NULL, "w")
STORE.put("list", [1, 2, 3], move: true)
(Spoils.start.join rescue nil)
p STORE.take_segment("list")

# flip hands it on, and stays in its store.
class Flips < Kumihimo::CodeSegment
  input :list, take: "list", from: STORE
  def run
    list.sort!
    flip :list, to: "sorted"
  end
end
STORE.put("list", [3, 1, 2], move: true)
Flips.start.join
p OTHER.take_segment("sorted")

# Between a store and this node.
class Fetch < Kumihimo::CodeSegment
  input :job, take: "job", from: STORE
  input :tool, peek: "tool"
  def run = put("done", [job, tool])
end
fetch = Fetch.start
S.local.put("tool", :saw)
STORE.put("job", 1)
fetch.join
p S.local.take("done"), STORE.size("job")

# Several at a time.
20.times { |i| STORE.put("n", i) }
class Square < Kumihimo::CodeSegment
  input :n, take: "n", from: STORE
  def run = put("square", n * n, on: STORE)
end
ended = 0
repetition = Square.repeat(parallel: 4) { (ended += 1) >= 20 }
p 20.times.map { OTHER.take("square", timeout: 20) }.sort == (0...20).map { |n| n * n }
repetition.stop

# A process that is killed: what it held comes back.
STORE.put("held", :it)
STORE.put("held", :that)
reader, writer = IO.pipe
program = 'require "kumihimo/segments"
  s = Kumihimo::Segments.connect(ARGV[0], lease: 1)
  class Holds < Kumihimo::CodeSegment
    input :held, take: "held"
    def run = (print "held"; $stdout.flush; sleep)
  end
  Holds.new.set_key(:held, "held", from: s).start.join'
child = spawn(RbConfig.ruby, "-e", program, ARGV[0], out: writer)
p reader.readpartial(4)
# While it lives it keeps what it holds.
p STORE.take("held", timeout: 60)
Process.kill(:KILL, child)
Process.wait(child)
segment = STORE.take_segment("held", timeout: 60)
p [segment.value, segment.index, segment.deliveries]
