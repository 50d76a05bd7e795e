# What looks like something else, ends in an odd place, or has a name that is taken.
require "kumihimo/flow"
require "kumihimo/xml"

# A window is its elements.
windows = Kumihimo.flow([1, 2, 3, 4]).window(3)
p windows.map { |w| w.select(&:odd?) }.to_a, windows.map { |w| w.filter { |n| n > 2 } }.to_a, windows.map { |w| [w.length, w.size, w.count, w.sum] }.to_a
p windows.map { |w| [w.from, w.to, w.rows] }.first

# A StopIteration of a block's is an error like others.
queue = Queue.new
queue << 1 << 2 << 3
queue.close
once = [:x].each
p((Kumihimo.flow(queue).map { |n| [n, once.next] }.to_a rescue $!.class))
once = ["a"].each
p((Kumihimo.flow([1, 2, 3]).merge_join([1, 2, 3], on: :itself) { |l, _| [once.next, l] }.to_a rescue $!.class))

# A Struct that is a collection is one for all readers.
Basket = Struct.new(:owner, :items) { def each(&) = items.each(&) }
basket = Basket.new("Aki", [1, 2])
p Kumihimo.flow(basket).map(&:itself).to_a, Kumihimo.flow(basket).union([], all: true).to_a
p Kumihimo.flow({ a: 1 }).union([], all: true).to_a

# An error comes after what was made before it.
class Tail < Kumihimo::Flow::Operator
  def process(element) = nil

  def finish
    yield 1
    raise "x"
  end
end
seen = []
(Kumihimo.flow([0]).through(Tail).each { |n| seen << n } rescue seen << $!.message)
p seen

# Names of fields.
%i[equal eql nil frozen is_a].each do |name|
  Class.new(Kumihimo::XTree) { field name, :boolean }
rescue ArgumentError => e
  puts e.message
end
begin
  Class.new(Kumihimo::XTree) do
    field :remove_date
    field :date
  end
rescue ArgumentError => e
  puts e.message
end

# A path of any bytes, and no text at all.
class Root < Kumihimo::XTree; end
p((Kumihimo::XML.open("no\xE9.xml", Root) rescue $!.class))
p((Kumihimo::XML::Push.new("//r", Root) { nil } << nil rescue $!.class))
