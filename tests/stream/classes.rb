# What classes declare, and what they refuse.
require "kumihimo/xml"
require "date"

class Room < Kumihimo::XTree
  field :name, attribute: true
  field :area, Float, optional: true
end

class House < Kumihimo::XTree
  field :price, Integer
  field :addr
  field :id, attribute: "id"
  field :sold, :boolean, default: false
  list :rooms, Room, element: "room"
end

class Villa < House
  field :pool, :decimal, optional: true
end

class HouseInfo < Kumihimo::XTree
  namespace x: "urn:x"
  element "info"
  field :title, attribute: "x:title", optional: true
  list :houses, House, element: "house"
end

puts House.fields.map(&:inspect)
puts Villa.fields.map(&:name).inspect, Kumihimo::XTree.fields.inspect
f = House.fields[2]
p f.name, f.type, f.place, f.tag, f.of, f.optional?, f.list?, f.frozen?
p Villa.fields[0].equal?(House.fields[0])
p House.instance_method(:price).arity, House.method_defined?(:remove_price), House.method_defined?(:sold?), House.method_defined?(:price?)
p HouseInfo.element

def refused
  yield
  puts "accepted"
rescue ArgumentError, TypeError, NoMethodError => e
  puts "#{e.class}: #{e.message}"
end

def klass(name = "T", &block)
  Class.new(Kumihimo::XTree) do
    define_singleton_method(:name) { name }
    class_eval(&block)
  end
end

refused { klass { field :a, Integer, elemnt: "b" } }
refused { klass { field :a; field :a } }
refused { klass { field :class } }
refused { klass { field "a-b" } }
refused { klass { field 1 } }
refused { klass { field :a, 17 } }
refused { klass { field :a, Array } }
refused { klass { field :a, element: "b", attribute: "c" } }
refused { klass { field :a, attribute: 3 } }
refused { klass { field :a, required: true, optional: true } }
refused { klass { field :a, text: true, of: "b" } }
refused { klass { list :a, attribute: "b" } }
refused { klass { list :a, optional: true } }
refused { klass { field(:a, Room) { |x| x } } }
refused { klass { field :a, Room, attribute: "b" } }
refused { klass { field :a, Room, default: 1 } }
refused { klass { namespace } }
refused { klass { namespace 3 } }
refused { klass { element 3 } }
[{ element: "\xff" }, { attribute: "b\xff" }, { element: "\xff".b }, { of: "b/\xff", element: "c" }, { namespace: "urn:\xff" }].each do |options|
  refused { klass { field :a, **options } }
end
refused { klass { list :a, element: "\xff" } }
refused { klass { element "\xff" } }
refused { klass { namespace "\xff" } }
refused { klass { namespace y: "\xff" } }
refused { Kumihimo::XML.list("<a/>", "/a/\xff", klass { field :b }) }
["é", "é".b, "é".encode("ISO-8859-1"), "é".encode("UTF-16LE"), :é].each do |name|
  p Kumihimo::XML.parse("<t><é>1</é></t>", klass { field :a, Integer, element: name }).a
end
refused { Kumihimo::XTree.field :a }
refused { House.field :late }
refused { House.new }
refused { Kumihimo::XML.parse("<a/>", klass { field :a, element: "y:b" }) }
refused { Kumihimo::XML.parse("<a/>", klass { field :a, element: "b c" }) }
refused { Kumihimo::XML.parse("<a/>", klass { field :a, element: "b"; field :b, element: "b" }) }
refused { Kumihimo::XML.parse("<a/>", klass { field :a, "NoSuchClass" }) }
refused { Kumihimo::XML.parse("<a/>", String) }
refused { Kumihimo::XML.open("<a/>", Room, colour: 1) }
refused { Kumihimo::XML.open("<a/>", Room, buffer: :huge) }
refused { Kumihimo::XML.open("<a/>", Room, limits: { deep: 1 }) }
refused { Kumihimo::XML.open("<a/>", Room, limits: { depth: 0 }) }
refused { Kumihimo::XML.open("<a/>", Room, timeout: "x") }
refused { Kumihimo::XML.open("<a/>", Room, encoding: "klingon") }
refused { Kumihimo::XML.open(17, Room) }
refused { Kumihimo::XML.each("<a/>", "", Room) {} }
refused { Kumihimo::XML.each("<a/>", "/a//", Room) {} }
k = klass { field :b }
Kumihimo::XML.parse("<a><b/></a>", k)
refused { k.field :c }

# Trees without lists are values, the document's own element too; times are frozen as other values are.
class Person < Kumihimo::XTree
  field :name, attribute: true
  field :born, Time, optional: true
  field :boss, "Person", optional: true
end
one, other, third = %w[b b c].map { |name| Kumihimo::XML.parse("<p name='a'><born>2001-02-03T04:05:06Z</born><boss name='#{name}'/></p>", Person) }
p one == other, one.eql?(other), one.hash == other.hash, { one => 1 }[other], one == third
p one == Kumihimo::XML.list("<t><p name='a'><born>2001-02-03T04:05:06Z</born><boss name='b'/></p></t>", "/t/p", Person).first
p one.born, one.born.frozen?
begin
  Marshal.dump(one)
rescue TypeError => e
  puts e.message
end
%i[list each].each do |name|
  [nil, :t].each do |path|
    Kumihimo::XML.public_send(name, "<t/>", path, Person) { nil }
  rescue TypeError => e
    puts e.message
  end
end
