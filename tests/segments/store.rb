# A file of segments: its calls, what outlives it, code segments on it, what is refused.
require "kumihimo/segments"
require "kumihimo/flow"
require "tmpdir"
require "rbconfig"
S = Kumihimo::Segments
FOLDER = Dir.mktmpdir
PATH = File.join(FOLDER, "jobs.db")
COUNT = (ENV["KUMI_TEST_COUNT"] || 400).to_i.clamp(1, 400)

def tell(label)
  puts "#{label}: #{yield.inspect.gsub(FOLDER, "")}"
rescue StandardError => error
  puts "#{label}: #{error.class}: #{error.message.gsub(FOLDER, "")}"
end
# What another program prints.
def program(text)
  IO.popen([RbConfig.ruby, "-W0", "-e", "require 'kumihimo/segments'; S = Kumihimo::Segments; PATH = ARGV[0]\n#{text}", PATH], err: %i[child out], &:read)
end

puts "-- calls"
store = S.open(PATH)
tell("inspect") { [store, store.key("k"), store.path] }
tell("the same") { S.open(PATH).equal?(store) && S.open("#{FOLDER}/./jobs.db").equal?(store) }
tell("put") { [store.put("k", [1, :two, "three", nil]), store.put(:k, { a: 1.5 }), store.update("k", "head")] }
tell("peek") { [store.peek("k"), store.peek("k", after: 1), store.peek?("none", :none), store.take?("none")] }
tell("segment") { store.take_segment("k").then { |s| [s.key, s.index, s.value, s.shared?, s.deliveries] } }
tell("frozen") { store.peek("k").frozen? }
tell("owned") { store.put("o", +"text", move: true) && [(store.peek("o") rescue $!.class), store.take("o") << "!"] }
tell("keys") { [store.keys, store.keys("k"), store.size("k")] }
tell("stat") { store.stat("k") }
tell("time") { store.take("none", timeout: 0.01) }
tell("stale") { store.peek("k", after: 99) }
tell("later") { [store.put("later", 1, not_before: 0.01), store.take("later", timeout: 5)] }
tell("ttl") { store.put("short", 1, ttl: 0) && store.take?("short") }
tell("a limit that is no number of 64 bits") { store.limit("full", 2**70) }
tell("limit") { store.limit("full", 1) && [store.put("full", 1), store.put?("full", 2), (store.put("full", 2, timeout: 0) rescue $!.class)] }
tell("no key") { store.put(1, 2) }
tell("what can't travel") { store.put("k", [$stdout]) }
tell("a large value") { store.put("large", "x" * 100_000) && store.take("large").size }
waiting = Thread.new { store.take("wanted") }
Thread.pass until store.stat("wanted")[:waiting] == 1
store.put("wanted", "there")
tell("who waits") { waiting.value }

puts "-- streams"
rows = store.key("rows").limit(20)
feeder = Thread.new { rows.from(1..COUNT).tap { rows.close } }
tell("each") { rows.sum == (1..COUNT).sum && feeder.value == COUNT }
tell("the end stays") { rows.take.class }
rows.limit(nil)
rows.from(1..10)
rows.close
tell("flow") { Kumihimo.flow(rows).select(&:even?).to_a }
store.limit("now", 1)
tell("no wait") { [store.put("now", 1, timeout: 0), store.peek_segment("now", timeout: 0).index, store.take("now", timeout: -1)] }
tell("nothing now") { store.take("now", timeout: 0) }
tell("no room now") { store.put("now", 1) && store.put("now", 2, timeout: 0) }
store.take("now")
watch = store.watch("w", limit: 2)
store.put("w", "a")
store.put("w", "b")
store.take("w")
tell("watch") { 2.times.map { watch.next(timeout: 5).to_h } }
tell("no event") { watch.next(timeout: 0.01) }
tell("closed") { watch.close || watch.next }
tell("a key's") { store.key("w").watch.close }

puts "-- code segments"
STORE = store
class Sum < Kumihimo::CodeSegment
  input :a, take: "a", from: STORE
  input :b, take: "b", from: STORE
  def run = put("sum", a + b, on: STORE)
end
sum = Sum.start
store.put("a", 1)
store.put("b", 2)
sum.join
tell("two inputs") { [store.take("sum"), store.keys("a"), store.keys("b")] }
class Careful < Kumihimo::CodeSegment
  input :text, take: "text", from: STORE
  dead_letters "dead", tries: 2
  def run = put("number", Integer(text, 10), on: STORE)
end
store.put("text", "seven")
2.times { Careful.start.join rescue $!.class }
tell("dead letters") { [store.size("text"), store.take("dead")[:tries]] }
class Halves < Kumihimo::CodeSegment
  input :list, take: "list", from: STORE
  def run
    list.pop
    raise "half" if list.size == 2
    flip :list, to: "short"
  end
end
store.put("list", [1, 2, 3], move: true)
$stderr = File.open(File::NULL, "w")
Halves.start.join rescue nil
tell("as it was left") { store.take_segment("list").then { |s| [s.value, s.changed?, s.deliveries] } }
$stderr = STDERR
here = S.local
here.put("local", 5)
class Mixed < Kumihimo::CodeSegment
  input :l, take: "local"
  input :s, take: "stored", from: STORE
  def run
    put "mixed", l * s
    put "mixed", l * s, on: STORE
  end
end
mixed = Mixed.start
store.put("stored", 3)
mixed.join
tell("here and there") { [here.take("mixed"), store.take("mixed")] }

puts "-- killed threads"
store.put_all("many", 1..COUNT)
taken = Thread::Queue.new
chance = Random.new(5)
(COUNT / 2).times do
  taker = Thread.new { Thread.handle_interrupt(Object => :on_blocking) { taken << store.take("many") } }
  sleep chance.rand * 0.0005
  taker.kill
end
Thread.list.each { |thread| thread.join if thread != Thread.current && !thread.name }
left = []
ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 120
until taken.size + left.size >= COUNT || Process.clock_gettime(Process::CLOCK_MONOTONIC) > ends
  left << store.take("many", timeout: 1) rescue nil
end
all = Array.new(taken.size) { taken.pop } + left
tell("twice, lost") { [all.size - all.uniq.size, (1..COUNT).to_a - all] }

puts "-- the file"
tell("another program") { program("S.open(PATH)")[/\S+jobs.db is open already[^(]*(?=\()/].to_s.strip }
tell("a forked child") do
  read, write = IO.pipe
  pid = fork do
    write.puts((store.put("k", 1) rescue $!.class), (S.open(PATH) rescue $!.class))
    exit!(0)
  end
  Process.wait(pid)
  write.close
  read.read.split
end
blocked = Thread.new { store.take("never") rescue $!.message }
Thread.pass until store.stat("never")[:waiting] == 1
watch = store.watch("w")
tell("close") { store.close.equal?(store) }
tell("who waited") { [blocked.value, watch.next] }
tell("a call then") { store.put("k", 1) }
tell("closed twice") { store.close.equal?(store) }
puts program("S.open(PATH) { |s| p s.take('k'), s.put('from', 'elsewhere'), s.keys; Process.kill(:KILL, $$) }")
tell("opened again") { S.open(PATH) { |s| [s.equal?(store), s.take("from"), s.put("k", 4)] } }
tell("closed by the block") { S.open(PATH) { |s| s.take("k") } }
S.open(PATH) { |s| s.put("brief", 1, not_before: 0.02, ttl: 0.02) }
sleep 0.1
tell("what entered and ended while it was closed") { S.open(PATH) { |s| [s.take?("brief"), s.stat("brief").values_at(:segments, :last_index)] } }

puts "-- refused"
File.write(File.join(FOLDER, "notes.txt"), "remember the milk")
tell("something else") { S.open(File.join(FOLDER, "notes.txt")) }
tell("a folder") { S.open(FOLDER) }
tell("no folder") { S.open(File.join(FOLDER, "none", "jobs.db")) }
bytes = File.binread(PATH)
File.binwrite(PATH, bytes[0, bytes.size / 2])
tell("cut short") { S.open(PATH) rescue $!.class }
tell("no path") { S.open(nil) }
FileUtils.remove_entry(FOLDER)
