# All 16 fields of each row of lineitem, decoded and added up as the Ruby peers do it.
# usage: extract.rb LINEITEM      (a path or a URL)
require_relative "tables"

place = ARGV[0] or abort "usage: extract.rb LINEITEM"
begun = Row.now
count = sum = 0
Kumihimo::XML.each(place, "/table/T", Item) do |r|
  count += 1
  sum += r.l_orderkey + r.l_partkey + r.l_suppkey + r.l_linenumber + r.l_quantity +
         cents(r.l_extendedprice) + cents(r.l_discount) + cents(r.l_tax) +
         Row.days(r.l_shipdate) + Row.days(r.l_commitdate) + Row.days(r.l_receiptdate) +
         r.l_returnflag.bytesize + r.l_linestatus.bytesize + r.l_shipinstruct.bytesize + r.l_shipmode.bytesize + r.l_comment.bytesize
end
Row.tell(mode: "P", s: Row.now - begun, bytes: place.start_with?("http") ? nil : File.size(place), count: count, sum: sum.to_s, peak: Row.memory("VmHWM"))
