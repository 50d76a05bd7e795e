# What reading a flow does to its inputs: only what is demanded, first results early, and nothing left behind.
require "kumihimo/flow"

# An input that tells what is done to it.
class Told
  include Enumerable
  attr_reader :given, :closed

  def initialize(count, fail_at: nil, &pause)
    @count = count
    @fail_at = fail_at
    @pause = pause
    @given = 0
    @closed = 0
  end

  def each
    @count.times do |at|
      raise IOError, "the input broke at #{at}" if at == @fail_at
      @pause&.call(at)
      @given += 1
      yield at
    end
  ensure
    @closed += 1
  end
end

THREADS = Thread.list.size
def files = Dir.children("/proc/self/fd").count { |fd| File.readlink("/proc/self/fd/#{fd}").include?("kumihimo-") rescue false }

def left_behind(name)
  2000.times do
    break if Thread.list.size == THREADS && files.zero?
    sleep 0.005
  end
  return if Thread.list.size == THREADS && files.zero?
  puts "#{name}: #{Thread.list.size - THREADS} threads and #{files} files are left"
end

puts "-- demand"
told = Told.new(1000)
flow = Kumihimo.flow(told).map { _1 + 1 }.select(&:even?).with_index.take_while { |_, at| at < 100 }
p told.given
p flow.first(2), told.given, told.closed
flow.each { |pair| break pair }
p told.given, told.closed
p Kumihimo.flow(told).take(3).to_a, told.given, told.closed
p Thread.list.size == THREADS

puts "-- a join of opaque inputs begins its threads when it is read and ends them"
one = Told.new(100_000)
other = Told.new(100_000)
join = Kumihimo.flow(one).join(other, on: :itself)
p Thread.list.size == THREADS, one.given
p join.first(3)
left_behind("first")
p one.closed, other.closed, one.given < 100_000, other.given < 100_000
p join.each { |pair| break pair }
left_behind("break")
begin
  join.each { raise "the reader failed" }
rescue RuntimeError => error
  puts error.message
end
left_behind("raise")
p join.map(&:first).select(&:odd?).union(other).first(20).size
left_behind("nested")

puts "-- a reader that is closed, or forgotten"
reader = join.flow_reader
Kumihimo::Flow.wait([reader]) while (batch = reader.take_batch(5)).empty?
p batch.size.between?(1, 5)
reader.close
reader.close
p reader.take_batch(5)
left_behind("close")
def forget(join)
  reader = join.flow_reader
  Kumihimo::Flow.wait([reader]) while reader.take_batch(5).empty?
  nil
end
Thread.new { forget(join) }.join
Thread.new do
  enumerator = join.each_entry
  p enumerator.next, enumerator.next
end.join
10_000.times do
  break if Thread.list.size == THREADS
  GC.start
  sleep 0.01
end
left_behind("forgotten")

puts "-- an input that stalls doesn't hold up the other"
gate = Thread::Queue.new
stalled = Told.new(10) { |at| gate.pop if at == 5 }
got = Thread::Queue.new
reading = Thread.new { Kumihimo.flow(stalled).join(0...1000, on: :itself).each { |pair| got << pair } }
p Array.new(5) { got.pop }
p got.empty?
gate << :go
p Array.new(5) { got.pop }.last
reading.join
left_behind("stalled")
queues = Array.new(3) { Thread::Queue.new }
together = Kumihimo.flow(queues[0]).union(queues[1], queues[2], all: true).map { _1 * 2 }
reading = Thread.new { together.each { |element| got << element } }
queues[2] << 1
p got.pop
queues[0] << 2
p got.pop
queues[1] << 3 << 4
p got.pop, got.pop
queues.each(&:close)
reading.join
p Kumihimo.flow(queues[0]).to_a
left_behind("queues")

puts "-- outer results come when they are certain"
gate = Thread::Queue.new
slow = Told.new(3) { |at| gate.pop if at == 1 }
reading = Thread.new { Kumihimo.flow(slow).join([0, 7], on: :itself, kind: :full).each { |pair| got << pair } }
p got.pop
gate << 1
p Array.new(3) { got.pop }.sort_by(&:inspect)
reading.join
# The left has ended: what the right has beside it is known at once, and a semi join needs no more.
slow = Told.new(1000) { |at| gate.pop if at == 900 }
p Kumihimo.flow([3, 899]).join(slow, on: :itself, kind: :semi).to_a, slow.given < 1000
p Kumihimo.flow([]).join(Told.new(1) { gate.pop }, on: :itself).to_a
left_behind("certain")

puts "-- errors"
healthy = Told.new(100_000)
broken = Told.new(100, fail_at: 20) { sleep 0.001 while healthy.given.zero? }
seen = []
begin
  Kumihimo.flow(broken).join(healthy, on: :itself).each { |pair| seen << pair }
rescue IOError => error
  puts error.message
end
p seen.map(&:first) == seen.map(&:first).uniq, seen.all? { |one, two| one == two && one < 20 }, healthy.closed
left_behind("broken")
broken = Told.new(100, fail_at: 20)
seen = []
begin
  Kumihimo.flow(broken).union([], all: true).map { _1 }.each { |element| seen << element }
rescue IOError => error
  puts error.message
end
p seen == (0...20).to_a
[->(f) { f.map { |x| 10 / (x - 3) } }, ->(f) { f.select { |x| 10 / (x - 3) } }, ->(f) { f.join(0..9, on: ->(x) { 10 / (x - 3) }) },
 ->(f) { f.merge_join(0..9, on: [->(x) { x.zero? ? 0 : 10 / (x - 3) && x }, :itself]) }].each do |make|
  seen = []
  begin
    make.call(Kumihimo.flow(0..9)).union([], all: true).each { |element| seen << element }
  rescue ZeroDivisionError => error
    puts "#{error.message} after #{seen.size <= 3 ? "some" : seen}"
  end
end
begin
  Kumihimo.flow([1]).union(Object.new)
rescue TypeError => error
  puts error.message.sub(/0x\h+/, "0x")
end

puts "-- temporary files"
[->(f) { f.join(0..2000, on: :itself, rows: 50) }, ->(f) { f.sort(rows: 50) }, ->(f) { f.group_by(:itself, rows: 50) },
 ->(f) { f.map { _1 % 700 }.distinct(rows: 50) }, ->(f) { f.except(0..1500, all: true, rows: 50) }].each do |make|
  flow = make.call(Kumihimo.flow(0..1999))
  p flow.first.class, flow.to_a.size
  flow.each { break }
  reader = flow.flow_reader
  reader.take_batch(1)
  reader.close
  left_behind("spilled")
  broken = Told.new(500, fail_at: 400)
  begin
    make.call(Kumihimo.flow(broken)).each { |_| nil }
  rescue IOError
    left_behind("spilled and broken")
  end
end
begin
  Kumihimo.flow((0..20).map { |at| proc { at } }).sort_by(:object_id, rows: 3).to_a
rescue Kumihimo::Flow::SpillError => error
  puts error.message
end
before = ENV["TMPDIR"]
ENV["TMPDIR"] = "/nowhere/at/all"
begin
  Kumihimo.flow(0..20).sort(rows: 3).to_a
rescue Kumihimo::Flow::SpillError => error
  puts error.message.sub(/\d+ bytes/, "n bytes").sub(/ @ .*/, "")
end
ENV["TMPDIR"] = before
require "json"
text = Module.new do
  def self.dump(object) = JSON.generate(object)
  def self.load(text) = JSON.parse(text)
end
p Kumihimo.flow((0..99).map { [_1, "x#{_1}"] }).sort_by(1, rows: 10, codec: text, reverse: true).first(2)

puts "-- three deep, with bounds"
random = Random.new(5)
orders = Array.new(300) { |id| { order: id, customer: random.rand(40) } }
items = Array.new(900) { { item: random.rand(50), of: random.rand(320) } }
customers = Array.new(45) { |id| { customer: id, city: %w[Nara Kobe Otsu][id % 3] } }
expected = Hash.new(0)
items.each do |item|
  order = orders[item[:of]] or next
  expected[customers[order[:customer]][:city]] += item[:item]
end
[nil, 30, 400].each do |bound|
  [orders, orders.each_entry].each do |inner|
    bought = Kumihimo.flow(items).join(Kumihimo.flow(inner).select { true }, on: %i[of order], rows: bound) { |item, order| item.merge(order) }
    placed = bought.join(Kumihimo.flow(customers.each_entry).map(&:itself), on: :customer, rows: bound) { |one, two| one.merge(two) }
    cities = placed.group_by(:city, rows: bound).map { |city, rows| [city, rows.sum { _1[:item] }] }
    print cities.sort.to_a == expected.sort, " "
    print cities.join(expected, on: 0).all? { |one, two| one == two }, "\n"
  end
end
left_behind("three deep")

puts "-- many readers of one flow"
shared = Kumihimo.flow(0...3000).map { _1 * 3 }.join(Kumihimo.flow(0...9000).select(&:even?), on: :itself)
p Array.new(4) { Thread.new { shared.sum(&:first) } }.map(&:value).uniq
left_behind("many")
