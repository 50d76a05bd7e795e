# The join of whole trees: both documents are read to their ends before it begins.
# usage: sq.rb LINEITEM ORDERS      (a path or a URL each)
require_relative "tables"

lines_at, orders_at = ARGV
abort "usage: sq.rb LINEITEM ORDERS" unless orders_at
before = Told.gc
begun = Told.ns
trees = [[lines_at, Lines], [orders_at, Orders]].map do |place, klass|
  Thread.new do
    tree = Kumihimo::XML.open(place, klass)
    [tree, tree.rows.to_a]
  end
end.map(&:value)
lines, orders = trees.map(&:last)
result = Result.new
table = orders.group_by(&:orderkey)
lines.each { |line| table[line.orderkey]&.each { |order| result.take(line, order) } }
Told.join(begun, result, before)
