# Limits, back-pressure, streams that are put and taken, watching.
require "kumihimo/segments"
require "kumihimo/xml"
DS = Kumihimo::Segments.local
S = Kumihimo::Segments

def tell(label)
  value = yield
  puts "#{label}: #{value.inspect.gsub(/0x\h+/, "0x")}"
rescue Exception => e
  puts "#{label}: #{e.class}: #{e.message.gsub(/0x\h+/, "0x")}"
end
def until_puts_wait(key, count)
  Thread.pass until DS.stat(key)[:waiting_puts] >= count
end

puts "-- a put waits for room, the oldest first"
DS.limit("l", 2)
2.times { |i| DS.put("l", i) }
putters = Array.new(3) do |i|
  t = Thread.new { DS.put("l", 10 + i) }
  until_puts_wait("l", i + 1)
  t
end
tell("stat") { DS.stat("l") }
tell("put? does not go before them") { DS.put?("l", 99) }
tell("take") { DS.take("l") }
tell("the oldest has put") { putters[0].value }
tell("update needs no room") { DS.update("l", 1.5) }
tell("the others wait") { DS.stat("l").slice(:segments, :waiting_puts) }
tell("a higher limit") { DS.limit("l", 3) && putters[1].value }
tell("no limit") { DS.limit("l", nil) && putters[2].value }
tell("all") { Array.new(4) { DS.take("l") } }

puts "-- one that waits may leave"
DS.limit("l", 1)
DS.put("l", 1)
killed = Thread.new { DS.put("l", :killed) }
until_puts_wait("l", 1)
waits = Thread.new { DS.put("l", :next, move: true) }
until_puts_wait("l", 2)
killed.kill.join
tell("a killed one puts nothing") { [DS.take("l"), waits.value, DS.take("l"), DS.size("l")] }
tell("one whose time is over") { DS.put("l", 1) && DS.put("l", 2, timeout: 0.01) }
tell("puts nothing") { [DS.take("l"), DS.take?("l", :none), DS.stat("l")[:waiting_puts]] }
tell("a lower limit keeps what stands") { 1.times { DS.put("l", 1) }; DS.limit("l", nil); DS.put("l", 2); DS.limit("l", 1); DS.size("l") }
tell("and lets nobody in before there is room") { [DS.take("l"), DS.put?("l", 3), DS.take("l"), DS.put?("l", 3).class, DS.take("l")] }
tell("delayed ones count") { DS.put("l", 1, not_before: 100); DS.put?("l", 2) }
DS.limit("l", nil)

puts "-- a list is put element by element"
tell("from") { DS.key("list").from(1..3) }
tell("each, until it is closed") { DS.key("list").close.each.to_a }
tell("each again: it is closed still") { DS.key("list").to_a }
tell("who takes the end, opens it") { DS.take("list").inspect }
DS.key("rows").limit(2)
made = 0
source = Enumerator.new { |y| 100.times { |i| y << (made = i) } }
feeder = Thread.new do
  count = DS.key("rows").from(source)
  DS.key("rows").close
  count
end
until_puts_wait("rows", 1)
tell("a source is read no faster than it is taken") { [made, DS.size("rows")] }
tell("first") { DS.key("rows").each.first(2) }
tell("sum of the rest") { DS.key("rows").sum }
tell("how many there were") { feeder.value }
tell("several readers share") do
  DS.limit("shared", 10)
  readers = Array.new(4) { Thread.new { DS.key("shared").to_a } }
  DS.key("shared").from(1..1000)
  DS.key("shared").close
  all = readers.map(&:value)
  [all.flatten.sort == (1..1000).to_a, all.all? { |l| l == l.sort }]
end

puts "-- flows"
names = Thread.new { DS.key("in").from(%w[c a b]); DS.key("in").close }
tell("a key is the input of a flow") { Kumihimo.flow(DS.key("in")).map(&:upcase).to_a }
DS.key("left").from([[1, :a], [2, :b]]).then { DS.key("left").close }
DS.key("right").from([[2, :x], [1, :y]]).then { DS.key("right").close }
tell("of a join") { Kumihimo.flow(DS.key("left")).join(Kumihimo.flow(DS.key("right")), on: 0).map { |a, b| [*a, b[1]] }.to_a.sort }
tell("elements that can not be put") { DS.key("bad").from([1, $stdin, 2]) rescue $!.class }
tell("what came before stands") { [DS.take("bad"), DS.size("bad")] }
class Row < Kumihimo::XTree
  field :n, Integer
end
DOC = "<rows>#{(1..50).map { |i| "<row><n>#{i}</n></row>" }.join}</rows>"
DS.limit("xml", 5)
rows = Thread.new { DS.key("xml").from(Kumihimo::XML.list(DOC, "/rows/row", Row)).tap { DS.key("xml").close } }
tell("records of XML") { Kumihimo.flow(DS.key("xml")).map(&:n).sum }
tell("how many") { rows.value }

puts "-- watching"
DS.put("w", :before)
watch = DS.watch("w")
DS.put("w", 1)
DS.update("w", 2)
DS.put("w", [3], move: true)
DS.put("w", 4, ttl: 0.01)
sleep 0.05
3.times { DS.take("w") }
tell("the events") { Array.new(8) { watch.next(timeout: 5) }.map { |e| [e.what, e.index, e.value, e.missed] } }
tell("no more") { watch.next(timeout: 0.01) }
class Back < Kumihimo::CodeSegment
  input :x, take: "w"
  def run = raise("back")
end
$stderr = File.open(File::NULL, "w")
DS.put("w", 5)
Back.start.join rescue 0
tell("of a run that fails") { Array.new(3) { watch.next }.map { |e| [e.what, e.index] } }
reader = Thread.new { watch.map(&:what) }
DS.take("w")
DS.put("w", 6)
Thread.pass until reader.stop?
tell("close") { watch.close }
tell("who reads it comes to its end") { reader.value }
tell("next of a closed one") { watch.next }
tell("close again") { watch.close }
small = DS.key("w").watch(limit: 2)
5.times { |i| DS.update("w", i) }
tell("a slow reader is told what it has missed") { [small.next, small.next] }
tell("limit: 0") { DS.watch("w", limit: 0) }
tell("Watch.new") { S::Watch.new(1) }
tell("each without a block") { small.each.class }
waiting = Thread.new { small.next }
Thread.pass until waiting.stop?
DS.put("w", 7)
tell("a waiting one is woken") { waiting.value }
waiting = Thread.new { small.next }
Thread.pass until waiting.stop?
waiting.kill.join
DS.put("w", 8)
tell("a killed one takes nothing along") { small.next(timeout: 1) }
small.close
3.times { DS.take("w") }
tell("stat") { S.stat.slice(:requests, :leases) }
