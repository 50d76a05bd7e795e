# nodes: 2
# Many values by one call: what arrives are the first ones of the list, in its order, whatever comes between.
require "timeout"
require "kumihimo/xml"
require "kumihimo/remote"
S = Kumihimo::Segments
Point = Struct.new(:x, :y)
class House < Kumihimo::XTree
  field :price, Integer
end
class Counter
  include Kumihimo::Remote
  def initialize = @count = 0
  def add = @count += 1
end
A = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
if S.node == "node2"
  S.local.limit("few", 3)
  S.local.limit("none left", 7)
  S["node1"].put("ready", true)
  # How many, and they themselves.
  S["node1"].put("few", [Array.new(500) { S.local.take("few", timeout: 60) }, S.local.size("few")])
  S["node1"].put("counted", Array.new(100) { S.local.take("counters", timeout: 60).add })
  S.local.take("end", timeout: 60)
  exit! true
end
here, there = S.local, S["node2"]
here.take("ready", timeout: 60)

def there.all(key) = Array.new(size(key)) { take(key) }

# Of all sizes and kinds, shared and not.
chance = Random.new(3)
values = Array.new(700) do |i|
  case chance.rand(7)
  when 0 then i
  when 1 then "s" * chance.rand(200)
  when 2 then "large #{i}" * 3000
  when 3 then [i, {"i" => i}]
  when 4 then Point.new(i, nil)
  when 5 then :"symbol#{i % 9}"
  else "b".b * chance.rand(9000)
  end
end
values[350] = "x" * (5 << 20)
values[400] = nil
p there.put_all("mixed", values), there.all("mixed") == values
p there.key("mixed").from(values.first(33)), there.all("mixed") == values.first(33)
[0, 1, 31, 32, 33, 64, 511, 512, 513, 1100].each do |n|
  list = Array.new(n) { |i| i }
  puts "of #{n}" unless there.put_all("n", list) == n && there.all("n") == list && there.put_all("n", list.each) == n && there.all("n") == list
end

# The queue is full most of the time.
p there.put_all("few", Array.new(500) { |i| i }), here.take("few", timeout: 60) == [[*0...500], 0]

# One that can't travel: those before it have gone.
[0, 1, 40, 64].each do |at|
  list = Array.new(100) { |i| i }
  list[at] = [1, Mutex.new]
  begin
    there.put_all("before", list)
    puts "a Mutex has travelled"
  rescue S::NotTransferable => error
    puts error.message if at == 0
    found = there.all("before")
    puts "#{found} at #{at}" unless found == list.first(at)
  end
end

# Called off while the queue is full: nothing enters afterwards.
list = Array.new(600) { |i| i }
begin
  Timeout.timeout(0.2) { there.put_all("none left", list) }
rescue Timeout::Error
  found = there.all("none left")
  there.put("none left", :last)
  p found == list.first(7), there.all("none left")
end

# A list that others change meanwhile.
list = Array.new(3000) { |i| i }
changes = Thread.new { 2000.times { |i| i.even? ? list.pop : list.push(-1) } }
count = there.put_all("changed", list)
changes.join
found = there.all("changed")
p found.size == count, (found - [-1]).each_cons(2).all? { |a, b| a < b }

# An Array of another kind is what its each gives.
class Twice < Array
  def each
    super { |e| yield e; yield e }
  end
end
p there.put_all("twice", Twice[1, 2]), there.all("twice")

# Records none of whose fields was read; references; traces.
rows = []
text = "<houses>#{(1..50).map { |i| "<house><price>#{i}</price></house>" }.join}</houses>"
Kumihimo::XML.each(text, "//house", House) { |house| rows << house }
p there.put_all("rows", rows), there.all("rows").map(&:price) == [*1..50]
p there.put_all("counters", [Counter.new] * 100), here.take("counted", timeout: 60) == [*1..100]
S.with_trace(A) { there.put_all("traced", [1, 2]) }
p Array.new(2) { there.take_segment("traced").trace.to_s == A }

# The node goes, while they wait for room there.
begin
  waits = Thread.new { there.put_all("none left", list) }
  waits.report_on_exception = false
  sleep 0.01 until there.stat("none left")[:waiting_puts] >= 505
  there.put("end", true)
  waits.join
rescue S::NodeLost => error
  p error.class
end
begin
  there.put_all("none left", list)
rescue S::NotConnected, S::NodeLost
  puts "gone"
end
