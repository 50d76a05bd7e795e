# nodes: 2
# Records of a document, none of whose fields was read, under keys that others ask for.
require "kumihimo/xml"
S = Kumihimo::Segments
class House < Kumihimo::XTree
  field :price, Integer
  field(:code) { |text| text.upcase }
end
if S.node == "node2"
  one = S["node1"]
  one.take("go", timeout: 40)
  found = [S.local.take("rows", timeout: 20).code]
  6.times { found << one.take("rows", timeout: 20).then { |row| [row.price, row.code] } }
  found << one.take("flipped", timeout: 20).code << one.take("moved", timeout: 20)[0].code
  found << one.take("dead", timeout: 20)[:inputs][:row].code
  one.put("found", found)
  exit
end
ds = S.local
# Others ask for them from now on.
%w[rows flipped moved dead].each { |key| ds.export(key) }
text = "<houses>#{(1..20).map { |i| "<house><price>#{i}</price><code>c#{i}</code></house>" }.join}</houses>"
rows = []
Kumihimo::XML.each(text, "//house", House) { |house| rows << house }
ds.put("rows", rows[0])
ds.update("rows", rows[1])
ds.key("rows").put(rows[2], not_before: 0)
ds.limit("rows", 3)
ds.put("rows", rows[3], ttl: 100)
waits = Thread.new { ds.put("rows", rows[4], timeout: 20) }
# A run's outputs.
ds.put("in", rows[5])
Kumihimo::Segments.when(take: "in") { |row| put "rows", row }.join
ds.put("in", rows[6])
Kumihimo::Segments.when(take: "in") { |row| update "none", row; put "rows", row, ttl: 100 }.join
ds.put("in", rows[7])
Kumihimo::Segments.when(take: "in") { |row| put "rows", row, on: "node2" }.join
ds.put("in", rows[8])
Kumihimo::Segments.when(take: "in") { flip "in", to: "flipped" }.join
ds.put("in", [rows[9]], move: true)
Kumihimo::Segments.when(take: "in") { flip "in", to: "moved" }.join
class Fails < Kumihimo::CodeSegment
  input :row, take: "in"
  dead_letters "dead"
  def run = raise("never mind")
end
ds.put("in", rows[10])
Fails.start.join rescue p $!.message
ds.put("rows", proc {}) rescue p $!.class
ds.put("go", 1)
waits.join
puts ds.take("found", timeout: 40).map(&:inspect)
p ds.size("rows")
