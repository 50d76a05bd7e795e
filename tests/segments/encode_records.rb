# Records of streams travel as records that describe themselves.
require "kumihimo/segments"
require "kumihimo/xml"

def encode(value) = Kumihimo::Segments.encode(value)
def decode(bytes, freeze = false, symbols = nil) = Kumihimo::Segments.decode(bytes, freeze:, symbols:)

class Owner < Kumihimo::XTree
  field :name
end
class House < Kumihimo::XTree
  field :price, Integer
  field :id, attribute: "id"
  field :size, Float, optional: true
  field :owner, Owner, optional: true
  field(:code) { |text| text.upcase.to_sym }
end
text = "<houses>#{(1..5).map { |i| "<house id='h#{i}'><price>#{i * 100}</price>#{"<owner><name>n#{i}</name></owner>" if i.odd?}<code>c#{i}</code></house>" }.join}</houses>"

rows = []
Kumihimo::XML.each(text, "//house", House) { |house| rows << house }
p rows[0].class
bytes = encode({ rows:, first: rows[0] })
back = decode(bytes, true)
row = back[:rows][2]
p row, row.class, row.class_name, row.price, row.id, row.size, row.owner.name, row.code, row.to_h.keys
p back[:rows].map(&:price), back[:first] == back[:rows][0]
p encode(back) == bytes

Kumihimo::XML.each(text, "//house", House) do |house|
  house.remove_price
  p decode(encode(house), false).members
  break
end
tree = Class.new(Kumihimo::XTree) { list :houses, House, element: "house" }
Town = tree
begin
  encode([Kumihimo::XML.parse(text, Town)])
rescue Kumihimo::Segments::NotTransferable => e
  puts e.message
end
