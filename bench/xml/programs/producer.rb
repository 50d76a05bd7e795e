# A producer and nothing else: the rows of one document, each read once, its fields summed, and dropped. `keep` reads the list without cutting it
# and holds its document, so that each row has a way to all that came after it.
# usage: producer.rb cut|keep LINEITEM
require_relative "tables"

mode, lines_at = ARGV
abort "usage: producer.rb cut|keep LINEITEM" unless %w[cut keep].include?(mode) && lines_at
before = Told.gc
begun = Row.now
document = Kumihimo::XML.open(lines_at, Lines)
count = sum = 0
(mode == "keep" ? document.rows : document.remove_rows).each do |line|
  count += 1
  sum += line.orderkey + line.quantity
end
after = Told.gc
Row.tell(mode: mode, s: Row.now - begun, count: count, sum: sum.to_s, peak: Row.memory("VmHWM"), rest: Row.memory("VmRSS"), gc: after.to_h { |k, v| [k, v - before[k]] })
