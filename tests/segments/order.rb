# The order of segments, sentence by sentence.
require "kumihimo/segments"
DS = Kumihimo::Segments.local

def tell(label)
  value = yield
  puts "#{label}: #{value.inspect.gsub(/0x\h+/, "0x")}"
rescue Exception => e
  puts "#{label}: #{e.class}: #{e.message.gsub(/0x\h+/, "0x")}"
end

# Waits until so many requests stand under a key.
def until_waiting(key, count)
  Thread.pass until DS.stat(key)[:waiting] >= count
end

puts "-- every segment has an increasing index under its key"
tell("three puts") { Array.new(3) { |i| DS.put("a", i) } }
tell("another key") { DS.put("b", 0) }
tell("put, update, put") { [DS.put("a", 3), DS.update("a", 4), DS.put("a", 5)] }
tell("in the queue") { Array.new(5) { DS.take_segment("a") }.map { |s| [s.index, s.value] } }

puts "-- counters survive empty queues"
tell("size") { DS.size("a") }
tell("put") { DS.put("a", 6) }
tell("take") { DS.take_segment("a").index }

puts "-- an index that was not given out raises"
tell("peek") { DS.peek("a", after: 8) }
tell("peek?") { DS.peek?("a", after: 8) }
tell("a code segment") { Class.new(Kumihimo::CodeSegment) { input(:x, take: "a", after: 100) }.start }
tell("the last index itself is an index") { DS.peek?("a", :none, after: 7) }

puts "-- after: is the segment with the lowest index above it, wherever it stands"
5.times { |i| DS.put("c", i) }
tell("after 2") { DS.peek_segment("c", after: 2) }
tell("update gives the head the highest index") { DS.update("c", :new) }
tell("the head") { DS.peek_segment("c") }
tell("after 0") { DS.peek_segment("c", after: 0) }
tell("after 5") { DS.peek_segment("c", after: 5) }
tell("after 6") { DS.peek?("c", :none, after: 6) }
tell("take after 2") { DS.take_segment("c", after: 2) }
tell("take after 2") { DS.take_segment("c", after: 2) }
tell("what stands") { Array.new(3) { DS.take("c") } }

puts "-- a loop waits for the next one"
reader = Thread.new do
  seen = []
  index = 0
  until seen.last == :end
    segment = DS.peek_segment("d", after: index)
    index = segment.index
    seen << segment.value
  end
  seen
end
[1, 2, 3, :end].each do |value|
  until_waiting("d", 1)
  DS.update("d", value)
end
tell("what it saw") { reader.value }
tell("the queue") { [DS.size("d"), DS.take("d")] }

puts "-- peeks that were answered keep the old value"
DS.put("e", [1])
old = DS.peek_segment("e")
DS.update("e", [2])
tell("old and new") { [old, DS.take_segment("e")] }

puts "-- a put answers peeks first, then the oldest take"
takers = Array.new(3) do |i|
  t = Thread.new { DS.take("f") }
  until_waiting("f", i + 1)
  t
end
peekers = Array.new(2) do |i|
  t = Thread.new { DS.peek("f") }
  until_waiting("f", 4 + i)
  t
end
DS.put("f", :first)
tell("peeks") { peekers.map(&:value) }
tell("the oldest take") { takers[0].value }
tell("who waits") { DS.stat("f").slice(:segments, :waiting) }
DS.put("f", :second)
DS.put("f", :third)
tell("the others in order") { takers[1..].map(&:value) }
tell("who comes later waits") { DS.peek?("f", :none) }

puts "-- a put is for the peeks that it matches only"
DS.put("g", 0)
later = Thread.new { DS.peek("g", after: 1) }
until_waiting("g", 1)
tell("update") { DS.update("g", 1) }
tell("the peek behind 1") { later.value }
DS.take("g")

puts "-- an owned segment can not be peeked at"
DS.put("h", [1], move: true)
tell("peek") { DS.peek("h") }
tell("peek?") { DS.peek?("h") }
tell("peek_segment") { DS.peek_segment("h") }
tell("it is there still") { [DS.size("h"), DS.take_segment("h")] }
waiting = Thread.new do
  DS.peek("h")
rescue Kumihimo::Segments::NotShared => e
  e.class
end
until_waiting("h", 1)
DS.put("h", [2], move: true)
tell("a peek that waits is told") { waiting.value }
tell("take") { DS.take("h") }

puts "-- what is leased is not there: an update misses it, and it regains its place"
class Hold < Kumihimo::CodeSegment
  input :x, take: "i"
  def run
    DS.put("holds", x)
    DS.take("go")
    raise "not today"
  end
end
$stderr = File.open(File::NULL, "w")
%i[one two three].each { |v| DS.put("i", v) }
hold = Hold.start
tell("it holds") { DS.take("holds") }
tell("stat") { DS.stat("i").slice(:segments, :leased) }
tell("update") { DS.update("i", :other) }
tell("put") { DS.put("i", :four) }
DS.put("go", 1)
tell("it fails") { hold.join }
tell("in order of their places") { Array.new(4) { DS.take_segment("i") }.map { |s| [s.index, s.value, s.deliveries] } }

# What a thread has that waits before the block is called: it has it however late this one is.
def hears(key)
  thread = Thread.new { DS.peek(key) }
  until_waiting(key, 1)
  yield
  thread.value
end

puts "-- what is to enter later has no index yet"
tell("put") { DS.put("far", :later, not_before: 100) }
tell("stat") { DS.stat("far").slice(:segments, :delayed, :last_index) }
tell("put") { DS.put("far", :now) }
DS.put("j", :now)
DS.put("j", :later, not_before: 0.03)
tell("both") { [DS.take_segment("j"), DS.take_segment("j")] }
tell("a Time that is over") { DS.put("j", :past, not_before: Time.now - 10) }
tell("take") { DS.take("j") }
tell("a Time") { DS.put("far", :soon, not_before: Time.now + 100) }
DS.put("j", :soon, not_before: Time.now + 0.02)
tell("take") { DS.take("j", timeout: 60) }
tell("two that are due in another order") { [DS.put("j", :b, not_before: 100), DS.put("j", :a, not_before: 0.03)] }
tell("take") { [DS.take("j"), DS.stat("j")[:delayed]] }

puts "-- ttl"
tell("there") { hears("k") { tell("put") { DS.put("k", :short, ttl: 0.02) } } }
sleep 0.06
tell("gone") { [DS.peek?("k"), DS.size("k")] }
tell("put") { DS.put("k", :long, ttl: 100) }
tell("take") { DS.take("k") }
tell("update with one") { DS.update("k", :short, ttl: 0.02) }
sleep 0.06
tell("gone") { DS.size("k") }
DS.put("k", 1, ttl: 0.02)
DS.update("k", 2)
sleep 0.06
tell("an update without one stands") { DS.take?("k", :none) }
tell("ttl 0") { DS.put("k", 1, ttl: 0) && DS.take?("k", :none) }
tell("it enters") { hears("k") { tell("both") { DS.put("k", :both, ttl: 0.03, not_before: 0.02) } } }
sleep 0.08
tell("and ends") { DS.size("k") }
DS.limit("k", 1)
DS.put("k", 1, ttl: 0.02)
tell("an end makes room") { DS.put("k", 2, timeout: 5) }
tell("take") { DS.take("k") }
