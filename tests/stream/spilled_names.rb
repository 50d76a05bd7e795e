# Elements with lists on disk, whatever their fields are called, whatever their class makes of them, and wherever they stand.
require "kumihimo/xml"

class Room < Kumihimo::XTree
  field :size, Integer
  field :name, attribute: true
end
class House < Kumihimo::XTree
  field :name
  field :size, Integer
  field :position, optional: true
  field :path, optional: true
  field :fields, optional: true
  field :owner, Room, element: "room0", optional: true
  list :each, Room, element: "room"
  list :map, Integer, element: "n"
end
class Street < Kumihimo::XTree
  list :houses, House, element: "house"
end

def room(tag, i) = "<#{tag} name='r#{i}'><size>#{i}</size></#{tag}>"
HOUSES = (1..20).map do |i|
  "<house><name>h#{i}</name><size>#{100 - i}</size><position>p#{i}</position><path>way</path>#{room("room0", i)}#{room("room", i)}#{room("room", i + 1)}<n>#{i}</n></house>"
end
DOC = "<street>#{HOUSES.join}</street>"
def houses(klass = Street) = Kumihimo::XML.parse(DOC, klass).houses
SHOW = ->(h) { [h.name, h.size, h.position, h.path, h.fields, h.owner.name, h.each.map(&:name).to_a, h.map.to_a] }

expected = houses.to_a.sort_by(&:size).map(&SHOW)
p houses.sort_by(:size, rows: 6).map(&SHOW).to_a == expected, expected.first

# Methods of a class's own say what a program gets, not what is written.
class Loud < Kumihimo::XTree
  field :name
  field :size, Integer
  field :owner, Room, element: "room0"
  list :rooms, Room, element: "room"
  list :numbers, Integer, element: "n"

  def name = super.upcase
  def owner = super.name
  def rooms = super.map(&:name).to_a
  def numbers = raise("not now")
  def position = raise("nowhere")
end
class LoudStreet < Kumihimo::XTree
  list :houses, Loud, element: "house"
end
p houses(LoudStreet).sort_by(:size, rows: 6).map { |h| [h.name, h.size, h.owner, h.rooms] }.first(2)
p houses(LoudStreet).sort_by(:size).map { |h| [h.name, h.size, h.owner, h.rooms] }.first(2)

# In Arrays, Hashes and Structs.
Pair = Struct.new(:left, :right)
p houses.zip(houses).sort_by(rows: 6) { |one, _| one.size }.map { |pair| pair.map(&SHOW) }.to_a == expected.map { |row| [row, row] }
p houses.map { |h| { house: h, deep: [[h]] } }.sort_by(rows: 6) { |h| h[:house].size }.map { |h| SHOW.(h[:deep][0][0]) }.to_a == expected
p houses.map { |h| Pair.new(h, h.size) }.sort_by(:right, rows: 6).map { |pair| SHOW.(pair.left) }.to_a == expected
p houses.group_by(rows: 6) { |h| h.size % 3 }.sort_by(:first, rows: 1).map { |key, found| [key, found.size, found.map(&:size).min] }.to_a
p houses.join(houses, on: :size).join(houses, on: [->(pair) { pair[0].size }, :size], rows: 6).map { |(one, two), three| [one, two, three].map(&:name).uniq.size }.tally

# A codec of the program's writes them as well; what was removed is still missed, and others may not have it.
codec = Class.new do
  def self.dump(elements) = Marshal.dump(elements).reverse
  def self.load(bytes) = Marshal.load(bytes.reverse)
end
p houses.sort_by(:size, rows: 6, codec: codec).map(&SHOW).to_a == expected
begin
  houses.map { |h| [h].each(&:remove_each) }.sort_by(rows: 6) { |h,| h.size }.to_a
rescue Kumihimo::Flow::SpillError => error
  puts error.message
end
begin
  Marshal.dump(houses.first)
rescue TypeError => error
  puts error.message
end

# inspect shows what has arrived, by no method of the class's own: that might fail, or wait.
p houses(LoudStreet).to_a.last
reader, writer = IO.pipe
writer << "<house><name>h</name><size>3</size><room"
waits = Kumihimo::XML.open(reader, Class.new(Kumihimo::XTree) do
  field :name
  field :size, Integer
  field :owner, Room, element: "room0"
  list :rooms, Room, element: "room"
  def name = "#{super} of #{owner.name}"
  def self.inspect = "Waits"
end)
waits.size
p waits
