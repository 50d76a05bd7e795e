# The cost of a symmetric hash join per row of input: 15,000 orders and 60,000 lineitems in memory, as in the paper's
# experiment without its documents. Medians of 9 runs.   kumi bench/flow/join.rb
require "kumihimo/flow"

Order = Struct.new(:orderkey, :price)
Lineitem = Struct.new(:orderkey, :quantity)

orders = Array.new(15_000) { |i| Order.new(i * 4 + 1, i) }
random = Random.new(1)
lineitems = orders.flat_map { |order| Array.new(4) { Lineitem.new(order.orderkey, random.rand(50)) } }
ROWS = orders.size + lineitems.size

class Priced < Kumihimo::Flow::Join
  def key_left(order) = order.orderkey
  def key_right(lineitem) = lineitem.orderkey
  def construct(order, lineitem) = order.price * lineitem.quantity
end

def measure(name)
  times = Array.new(9) do
    began = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    count = 0
    yield.each { count += 1 }
    raise "#{name}: #{count} results" unless count == 60_000
    Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - began
  end
  median = times.sort[4]
  puts format("%-34s %7.1f ms  %5.0f ns a row", name, median * 1e3, median / ROWS * 1e9)
end

measure("reading both, no join") { (orders + lineitems).first(60_000) }
measure("by field") { Kumihimo.flow(orders).join(lineitems, on: :orderkey) }
measure("by field, unique: :left") { Kumihimo.flow(orders).join(lineitems, on: :orderkey, unique: :left) }
measure("by field, with a block") { Kumihimo.flow(orders).join(lineitems, on: :orderkey) { |order, item| order.price * item.quantity } }
measure("a subclass") { Priced.new(orders, lineitems) }
measure("full join") { Kumihimo.flow(orders).join(lineitems, on: :orderkey, kind: :full) }
measure("by field, memory: \"64M\"") { Kumihimo.flow(orders).join(lineitems, on: :orderkey, memory: "64M") }
measure("by field, rows: 5000 (spills)") { Kumihimo.flow(orders).join(lineitems, on: :orderkey, rows: 5000) }
measure("merge join") { Kumihimo.flow(orders).merge_join(lineitems, on: :orderkey) }
measure("of two operators") { Kumihimo.flow(orders).select { true }.join(Kumihimo.flow(lineitems).map { |item| item }, on: :orderkey) }
measure("of two opaque inputs (threads)") { Kumihimo.flow(orders.each_entry).join(lineitems.each_entry, on: :orderkey) }
