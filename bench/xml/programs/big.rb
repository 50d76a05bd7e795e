# A document of any size in constant memory: `resident` holds what the process used when each tenth of the rows had been read.
# usage: big.rb extract LINEITEM | merge LINEITEM ORDERS
require_relative "tables"

mode, lines_at, orders_at = ARGV
abort "usage: big.rb extract LINEITEM | merge LINEITEM ORDERS" unless (mode == "extract" && lines_at) || (mode == "merge" && orders_at)
# A row has some 536 bytes.
step = [File.size(lines_at) / 536 / 10, 1].max
resident = []
count = sum = 0
begun = Row.now
seen = lambda do
  resident << Row.memory("VmRSS") if (count += 1) % step == 0
end
if mode == "extract"
  Kumihimo::XML.each(lines_at, "/table/T", Item) do |r|
    sum += r.l_orderkey + cents(r.l_extendedprice) + Row.days(r.l_shipdate) + r.l_comment.bytesize
    seen.call
  end
else
  lines = Kumihimo::XML.open(lines_at, Lines).remove_rows
  orders = Kumihimo::XML.open(orders_at, Orders).remove_rows
  lines.merge_join(orders, on: :orderkey).each do |line, order|
    sum += line.orderkey + cents(order.price)
    seen.call
  end
end
resident << Row.memory("VmRSS")
Row.tell(mode: mode, s: Row.now - begun, count: count, sum: sum.to_s, peak: Row.memory("VmHWM"), resident: resident)
