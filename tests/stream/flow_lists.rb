# Operators over lists of XML trees: arriving slowly through pipes, beside inputs of other natures, and left early.
require "kumihimo/xml"

class Order < Kumihimo::XTree
  field :key, Integer
  field :price, Float
end
class Orders < Kumihimo::XTree
  list :rows, Order, element: "order"
end
class Item < Kumihimo::XTree
  field :order, Integer
  field :count, Integer
end
class Items < Kumihimo::XTree
  list :rows, Item, element: "item"
end

ORDERS = Array.new(400) { |at| [at * 3, at * 0.5] }
random = Random.new(4)
ITEMS = Array.new(1500) { [random.rand(1300), random.rand(9)] }
ORDERS_XML = "<orders>#{ORDERS.map { |key, price| "<order><key>#{key}</key><price>#{price}</price></order>" }.join}</orders>"
ITEMS_XML = "<items>#{ITEMS.map { |order, count| "<item><order>#{order}</order><count>#{count}</count></item>" }.join}</items>"
PAIRS = ITEMS.filter_map { |order, count| [order, (order / 3) * 0.5, count] if (order % 3).zero? && order < 1200 }.sort
THREADS = Thread.list.size
PIPES = []

def orders(source = ORDERS_XML) = Kumihimo::XML.open(source, Orders).remove_rows
def items(source = ITEMS_XML) = Kumihimo::XML.open(source, Items).remove_rows

# A pipe into which a thread writes the text in pieces, with pauses; after `hold` bytes only when `gate` lets it.
def slowly(text, pieces: 30, gate: nil, hold: nil)
  reader, writer = IO.pipe
  PIPES << reader
  size = text.bytesize / pieces + 1
  Thread.new do
    at = 0
    while at < text.bytesize
      gate.pop if hold && at >= hold
      writer << text.byteslice(at, size)
      sleep 0.001
      at += size
    end
  rescue Errno::EPIPE, IOError
    nil
  ensure
    writer.close
  end
  reader
end

# No document is open any more; and no thread, once the pipes, which are ours, are closed.
def quiet(name)
  wait_for { Kumihimo::XML.stat[:open].zero? }
  open = Kumihimo::XML.stat[:open]
  PIPES.each(&:close).clear
  wait_for { Thread.list.size == THREADS }
  threads = Thread.list.size - THREADS
  puts "#{name}: #{threads} threads and #{open} documents are left" unless threads.zero? && open.zero?
end

def wait_for
  5000.times do
    return if yield
    sleep 0.002
  end
end

def check(name)
  got = yield.map { |order, item| [order.key, order.price, item.count] }.sort.to_a
  puts "#{name}: #{got.size} pairs#{", expected #{PAIRS.size}" unless got == PAIRS}"
  quiet(name)
end

check("documents") { orders.join(items, on: %i[key order]) }
check("unique") { orders.join(items, on: %i[key order], unique: :left) }
check("spilled") { orders.join(items, on: %i[key order], rows: 100) }
check("spilled by bytes") { orders.join(items, on: %i[key order], memory: "20K") }
check("pipes") { orders(slowly(ORDERS_XML)).join(items(slowly(ITEMS_XML)), on: %i[key order]) }
check("pipes, spilled") { orders(slowly(ORDERS_XML)).join(items(slowly(ITEMS_XML)), on: %i[key order], rows: 60, kind: :inner, where: ->(_, _) { true }) }
check("operators over pipes") { orders(slowly(ORDERS_XML)).select { _1.key >= 0 }.join(items(slowly(ITEMS_XML)).map(&:itself), on: %i[key order]) }
check("kept lists") { Kumihimo::XML.open(ORDERS_XML, Orders).rows.join(Kumihimo::XML.open(ITEMS_XML, Items).rows, on: %i[key order]) }

# A pipe, which is waited for by its descriptor, beside a queue, which a thread pushes into.
Plain = Struct.new(:order, :count)
def queued
  queue = Thread::Queue.new
  Thread.new do
    ITEMS.each_with_index do |(order, count), at|
      sleep 0.001 if (at % 100).zero?
      queue << Plain.new(order, count)
    end
    queue.close
  end
  queue
end
check("a pipe and a queue") { orders(slowly(ORDERS_XML)).join(queued, on: %i[key order]) }
check("a pipe and an enumerator") { orders(slowly(ORDERS_XML)).join(ITEMS.each_entry.lazy.map { Plain.new(*_1) }, on: %i[key order]) }
check("a queue and a list") { Kumihimo.flow(queued).join(orders, on: %i[order key]).map { |item, order| [order, item] } }

# A pair comes when both halves have arrived, whatever else is missing.
gate = Thread::Queue.new
got = Thread::Queue.new
held = slowly(ITEMS_XML, pieces: 60, gate: gate, hold: ITEMS_XML.bytesize / 3)
reading = Thread.new { orders.join(items(held), on: %i[key order]).each { |pair| got << pair } }
some = Array.new(PAIRS.size / 6) { got.pop }
puts "#{some.size} pairs while the items are held"
gate << :go until reading.join(0.001)
reading = nil # its value is the join, which has the lists
puts "#{some.size + got.size} pairs in all"
quiet("held")

# Left early, and an input that breaks.
p orders.join(items(slowly(ITEMS_XML)), on: %i[key order]).first(2).size
quiet("first")
orders(slowly(ORDERS_XML)).join(items(slowly(ITEMS_XML)), on: %i[key order]).group_by { |order, _| order.key }.each { |_| break }
quiet("break")
seen = 0
begin
  orders.join(items(slowly(ITEMS_XML.sub(%r{</item>(?!.*</item>)}m, "</itme>"))), on: %i[key order]).each { seen += 1 }
rescue Kumihimo::XML::ParseError => error
  puts "#{error.class} after #{seen >= PAIRS.size - 1 ? "all" : seen} pairs"
end
quiet("broken")

# Other operators.
p orders.top(2, :price).map(&:key).to_a, items.group_by(:count, rows: 200).map { |count, rows| [count, rows.size] }.sort.to_a == ITEMS.map(&:last).tally.sort
p items.sort_by(:order, rows: 100).map(&:order).to_a == ITEMS.map(&:first).sort, items.map(&:order).distinct.count == ITEMS.map(&:first).uniq.size
p orders.merge_join(items.sort_by(:order), on: %i[key order]).count == PAIRS.size
p orders.map(&:key).union(items.map(&:order), all: true).count == ORDERS.size + ITEMS.size
p orders.window(150).map(&:size).to_a
p items.join(items, on: :order, kind: :semi).count == ITEMS.size, orders.join(items, on: %i[key order], kind: :anti).map(&:key).sort.to_a == ORDERS.map(&:first) - ITEMS.map(&:first)
quiet("the end")
