# The join by demand.
# usage: dd.rb adaptive|paper|small|large|ROWS [--keep] LINEITEM ORDERS      (a path or a URL each; --keep: without cutting the lists)
require_relative "tables"

keep = ARGV.delete("--keep")
buffer, lines_at, orders_at = ARGV
abort "usage: dd.rb adaptive|paper|small|large|ROWS [--keep] LINEITEM ORDERS" unless orders_at
buffer = buffer.match?(/\A\d+\z/) ? buffer.to_i : buffer.to_sym
before = Told.gc
begun = Told.ns
lines = Kumihimo::XML.open(lines_at, Lines, buffer: buffer)
orders = Kumihimo::XML.open(orders_at, Orders, buffer: buffer)
left, right = keep ? [lines.rows, orders.rows] : [lines.remove_rows, orders.remove_rows]
result = Result.new
left.join(right, on: :orderkey).each { |line, order| result.take(line, order) }
Told.join(begun, result, before)
