# Two versions of a program run together: a Struct and a Data class of each exchange values without loss.
require "kumihimo/segments"

def encode(value) = Kumihimo::Segments.encode(value)
def decode(bytes, freeze = false, symbols = nil) = Kumihimo::Segments.decode(bytes, freeze:, symbols:)

# What stands under names while the block runs.
def program(**classes)
  classes.each { |name, klass| Object.const_set(name, klass) }
  yield
ensure
  classes.each_key { |name| Object.send(:remove_const, name) }
end

def one(&) = program(Item: Struct.new(:id, :name), Order: Data.define(:id, :items), &)

def two(&)
  item = Struct.new(:id, :price, :name, :tags) do
    const_set(:DEFAULTS, { price: 0.0, tags: [].freeze }.freeze)
  end
  order = Data.define(:id, :items, :note, :first) do
    const_set(:DEFAULTS, { note: "none".freeze, first: Object.new }.freeze)
  end
  program(Item: item, Order: order, &)
end

old = one { encode(Order.new(id: 1, items: [Item.new(7, "apple")])) }
new = two { encode(Order.new(id: 2, items: [Item.new(8, 2.5, "pear", [:a])], note: "now", first: Item.new(9, 1.5, "plum", nil))) }

puts "version 2 reads version 1"
two do
  order = decode(old, false)
  p order, order.items[0].name, order.items[0].price
  p Ractor.shareable?(decode(old, true))
end

puts "version 1 reads version 2, and puts it on"
kept, changed, copied, frozen = one do
  order = decode(new, false)
  p order, order.items[0], order.instance_variables, order.items[0].instance_variables
  p order == decode(new, true), Ractor.shareable?(decode(new, true))
  unchanged = encode(order)
  frozen = encode(decode(new, true))
  order.items[0].name = "quince"
  order.items << Item.new(10, "fresh")
  changed = encode(order)
  copied = encode([order.with(id: 3), order.items[0].dup, order.items[0].clone(freeze: true)])
  [unchanged, changed, copied, frozen]
end

puts "version 2 has it back"
two do
  p decode(kept, false)
  p decode(kept, false) == decode(new, false), kept == frozen
  p decode(changed, false)
  p decode(copied, false)
end

puts "a program that knows neither class"
again = begin
  order = decode(new, false)
  p order, order.class, order.name, order.id, order[:note], order.items[0].price, order.first
  p order.to_h.keys, order.members, order.respond_to?(:note), order.respond_to?(:other), order.frozen?, order.items.frozen?
  p order == decode(new, true), order.eql?(decode(new, false)), order.hash == decode(new, true).hash, order == decode(old, false)
  p (order.other rescue $!.class), (order[:other] rescue $!.message), (order.id(1) rescue $!.message), (order.with(x: 1) rescue $!.message)
  case order
  in { id: Integer => id, note: } then p [id, note]
  end
  p Ractor.shareable?(decode(new, true))
  p order.items[0].name
  found = decode(encode({ order => 1 }), false)
  p found[order]
  [encode(order), encode(order.with(note: "changed there"))]
end
two do
  p again.map { |bytes| decode(bytes, false) }
  p decode(again[0], false) == decode(new, false)
end

puts "Data here, Struct there"
bytes = program(Shape: Struct.new(:w, :h)) { encode([Shape.new(1, 2)]) }
program(Shape: Data.define(:h, :w)) { p decode(bytes, false) }
puts "a class that is none of these here"
[Class.new, Module.new, 7, Class.new(String)].each do |other|
  program(Shape: other) { p decode(bytes, false) }
end

puts "nothing is loaded, nobody is asked"
Object.autoload(:Shape, "./no_such_file")
def Object.const_missing(name) = raise("asked for #{name}")
p decode(bytes, false)
Object.send(:remove_const, :Shape)
p decode(bytes, false)
loud = Struct.new(:w, :h) do
  def self.allocate = raise("allocate")
  def self.new(*) = raise("new")
  def self.inherited(_) = raise("inherited")
  def initialize(*) = raise("initialize")
  def w=(_)
    raise("w=")
  end
  def hash = raise("hash")
  def ==(_) = raise("==")
  def freeze = raise("freeze")
end
program(Shape: loud) { p decode(bytes, true)[0].to_a }

puts "members that a class has got since are not written twice"
late = one { decode(new, false) }
two do
  # The same object under a newer class is another class's: it stays what it was.
  p (encode(late) rescue $!.message)
end
