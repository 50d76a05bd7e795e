# Trees with lists: get and remove, several readers, laziness.
require "kumihimo/xml"

class Room < Kumihimo::XTree
  field :name, attribute: true
end
class House < Kumihimo::XTree
  field :price, Integer
  field :addr
  field :id, attribute: true
  list :rooms, Room, element: "room"
  list :tags, Symbol, element: "tag"
end
class HouseInfo < Kumihimo::XTree
  field :town
  list :houses, House, element: "house"
  field :sum, Integer, optional: true
end

def doc(n = 3)
  houses = (1..n).map { |i| %(<house id="h#{i}"><price>#{i * 100}</price><room name="a#{i}"/><room name="b#{i}"/><addr>Street #{i}</addr><tag>t#{i}</tag></house>) }
  "<info><town>Kobe</town>#{houses.join}<sum>#{n}</sum></info>"
end

def removed
  yield
  puts "still there"
rescue Kumihimo::XTree::RemovedError => e
  puts "removed: #{e.message}"
end

info = Kumihimo::XML.parse(doc, HouseInfo)
p info.town, info.houses.class
p info.houses.map { |h| [h.id, h.price, h.rooms.map(&:name).to_a, h.addr, h.tags.to_a] }.to_a
p info.houses.to_a == info.houses.to_a, info.houses == info.houses, info.houses.size, info.houses.count, info.houses.empty?
p info.sum
h = info.houses.first
p h == info.houses.first, h.hash == info.houses.first.hash, h.path, h.position, h.rooms.first.path
p h

puts "-- removing"
p h.remove_addr
removed { h.addr }
removed { info.houses.first.addr }
removed { h.remove_addr }
p h.remove_rooms.map(&:name).to_a
removed { h.rooms }
room = info.houses.to_a[1].rooms.first
p room.remove_name
removed { room.name }
removed { info.houses.to_a[1].rooms.first.name }
cut = info.remove_houses
removed { info.houses }
removed { info.remove_houses }
a, b = cut.reader, cut.reader
p cut.cut?, a.next.id, b.next.id, a.next.id, a.next.id
removed { cut.each {} }
removed { cut.first }
p b.next.id, b.next.id
begin
  b.next
rescue StopIteration => e
  p e.message
end
p cut.size

puts "-- remove_each"
info = Kumihimo::XML.parse(doc, HouseInfo)
list = info.houses
early = list.reader
list.remove_each { |x| print x.price, " " }
puts
removed { info.houses.each {} }
p early.next.price, early.peek.price, early.next.price, early.next.price
p info.sum, info.town

puts "-- readers at their own pace"
info = Kumihimo::XML.parse(doc(50), HouseInfo)
r = info.houses.reader
p r.next.id, info.houses.first(2).map(&:id), r.next.id, info.houses.reader.take_batch(1).map(&:id), r.peek.id
e = info.houses.each
p e.next.id, e.next.id, e.peek.id, e.size
p info.houses.lazy.select { |x| x.price > 4700 }.map(&:id).first(2)
p info.houses.each_slice(20).map(&:size).to_a
p info.houses.each_with_index.to_a.last[1], info.houses.include?(info.houses.first)

puts "-- only what is asked for"
class Count
  attr_reader :given
  def initialize(text) = (@text, @given = text, 0)
  def readpartial(n)
    raise EOFError if @given >= @text.bytesize
    piece = @text.byteslice(@given, [n, 100].min)
    @given += piece.bytesize
    piece
  end
end
source = Count.new(doc(100))
info = Kumihimo::XML.open(source, HouseInfo)
p source.given
p info
p info.town, source.given
h = info.houses.first
p h.id, source.given < 400
p h.price, h.tags.to_a
p info.houses.first(10).last.addr, source.given < 1800
p info
p info.houses.count, source.given == doc(100).bytesize

puts "-- how a document stands"
info = Kumihimo::XML.parse(doc(10), HouseInfo)
p Kumihimo::XML.stat(info).values_at(:open, :bytes), Kumihimo::XML.stat(info.houses)[:total] == doc(10).bytesize
p info.sum, Kumihimo::XML.stat(info)[:open], Kumihimo::XML.stat(info.houses.reader)[:received] == doc(10).bytesize
p Kumihimo::XML.stat.keys
begin
  Kumihimo::XML.stat(info.houses.first.rooms.first)
rescue TypeError => e
  puts e.message
end
