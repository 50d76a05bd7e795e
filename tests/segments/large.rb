# A hundred thousand of everything: keys, segments, code segments that wait; and what they take.
require "kumihimo/segments"
DS = Kumihimo::Segments.local
S = Kumihimo::Segments
COUNT = 100_000

def tell(label)
  value = yield
  puts "#{label}: #{value.inspect}"
rescue Exception => e
  puts "#{label}: #{e.class}: #{e.message}"
end
def memory = GC.start && nil || Integer(File.read("/proc/self/statm").split[1], 10) * 4096
# Bytes that each of so many takes. A build with debug assertions and the stress modes need more.
def each(count = COUNT)
  before = memory
  yield
  (memory - before) / count
end
SAID = ARGV.include?("say")

puts "-- keys"
bytes = each { COUNT.times { |i| DS.put("key.#{i}", i) } }
$stderr.puts "a key with a segment: #{bytes} bytes" if SAID
tell("keys") { DS.keys("key.").size }
tell("by prefix") { DS.keys("key.9999").size }
tell("in order") { DS.keys("key.100").first(3) }
tell("all are there") { (0...COUNT).all? { |i| DS.take("key.#{i}") == i } }
tell("no keys") { DS.keys.size }
COUNT.times { |i| DS.put("other.#{i}", i) && DS.take("other.#{i}") }
tell("idle keys are forgotten") { S.stat[:keys] < 200_000 }
tell("an index goes on") { DS.put("key.5", 0) > 1 && DS.take("key.5") }

puts "-- segments under one key"
first = DS.put("queue", 0) + 1
DS.take("queue")
bytes = each { COUNT.times { |i| DS.put("queue", i) } }
$stderr.puts "a segment: #{bytes} bytes" if SAID
tell("size") { DS.size("queue") }
tell("after:") { DS.peek_segment("queue", after: first + 77_777).value }
tell("taken from the middle") { DS.take_segment("queue", after: first + 50_000).value }
tell("the sum") { Array.new(COUNT - 1) { DS.take("queue") }.sum }

puts "-- code segments that wait"
class Wait < Kumihimo::CodeSegment
  input :x, take: "wait"
  def run = put("done", x)
end
bytes = each { COUNT.times { Wait.start } }
$stderr.puts "a code segment that waits: #{bytes} bytes" if SAID
tell("at most 800 bytes each") { bytes <= 800 || bytes }
tell("waiting") { [S.stat[:waiting], DS.stat("wait")[:waiting]] }
tell("others go on") { DS.put("else", 1) && DS.take("else") }
COUNT.times { |i| DS.put("wait", i) }
S.settle
tell("all ran, each with its own") { Array.new(COUNT) { DS.take("done") }.sum }
tell("the oldest first") { S.stat.slice(:waiting, :ready, :running, :requests, :leases) }
many = Array.new(1000) { |i| Wait.new.set_key(:x, "wait.#{i}").start }
tell("a thousand keys") { many.each_with_index { |_, i| DS.put("wait.#{i}", i) }; many.each(&:join); Array.new(1000) { DS.take("done") }.sum }

puts "-- threads that wait"
threads = Array.new(10_000) { Thread.new { DS.take("threads") } }
Thread.pass until DS.stat("threads")[:waiting] == 10_000
threads.first(5_000).each(&:kill).each(&:join)
tell("half of them") { DS.stat("threads")[:waiting] }
5_000.times { |i| DS.put("threads", i) }
tell("the rest got one each") { threads.drop(5_000).map(&:value).sort == (0...5_000).to_a }
