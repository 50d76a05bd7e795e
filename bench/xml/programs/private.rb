# Where records are born when rows are read in several ways: figures of GC.stat, and of the producers.
# usage: private.rb each|flow|merge|join BUFFER LINEITEM ORDERS
require_relative "tables"

kind, buffer, lines_at, orders_at = ARGV
abort "usage: private.rb each|flow|merge|join BUFFER LINEITEM ORDERS" unless orders_at
buffer = buffer.to_sym
lines = -> { Kumihimo::XML.open(lines_at, Lines, buffer: buffer).remove_rows }
orders = -> { Kumihimo::XML.open(orders_at, Orders, buffer: buffer).remove_rows }
before = Told.gc
sum = 0
case kind
when "each" then lines.call.each { |l| sum += l.orderkey + l.shipmode.bytesize }
when "flow" then lines.call.select { |l| l.quantity > 25 }.map { |l| l.orderkey }.each { |k| sum += k }
when "merge" then lines.call.merge_join(orders.call, on: :orderkey).each { |l, o| sum += l.quantity * o.custkey }
else lines.call.join(orders.call, on: :orderkey).each { |l, o| sum += l.quantity * o.custkey }
end
after = Told.gc
Row.tell(sum: sum.to_s, stat: Told.stat, **after.to_h { |k, v| [k, v - before[k]] })
