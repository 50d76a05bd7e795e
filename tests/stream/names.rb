# Names that a program has itself: constants beside its operators and trees, methods and variables within them.
require "kumihimo/xml"

# Constants: what a class sees of ours before the program's own is what the guides name.
Window = Struct.new(:title)
Key = Struct.new(:text)
%i[Source Group Groups Part Entry Side Bell Spill Budget Sort Map Take Top Order Bounded Zip Field UNREAD PIECE KINDS UNIQUE PLACES].each do |name|
  Object.const_set(name, :mine)
end

class Titled < Kumihimo::Flow::Operator
  def process(title) = yield(Window.new(title))
  def self.others = [Source, Group, Groups, Part, Entry, Side, Bell, Spill, Budget, Sort, Map, Take, Top, Order, Bounded, Zip, PIECE]
end
p Kumihimo.flow(["a"]).through(Titled).to_a, Titled.others.uniq

class Keyed < Kumihimo::Flow::Join
  def key_left(left) = Key.new(left)
  def key_right(right) = Key.new(right.to_s)
  def self.others = [KINDS, UNIQUE, Entry, Budget]
end
p Keyed.new(["1", "2"], [2, 3]).to_a, Keyed.others.uniq

class Page < Kumihimo::XTree
  field(:title) { |text| Window.new(text) }
  def self.others = [Field, UNREAD, PLACES]
end
p Kumihimo::XML.parse("<p><title>t</title></p>", Page).title, Page.others.uniq

class Countdown
  include Kumihimo::Flow
  def initialize(from) = @from = from
  def each(&) = @from.downto(1, &)
  def wrapped = map { |n| Window.new(n) }
end
p Countdown.new(2).wrapped.to_a
[Titled, Keyed, Page, Countdown].each do |klass|
  p klass.ancestors.take_while { |part| part != Object }.flat_map { |part| part.constants(false) }.sort
end

# Methods and variables of an operator.
class Busy < Kumihimo::Flow::Operator
  def initialize(input, *options)
    super(input)
    @input = @options = @block = options
  end

  def start = @reading = 0
  def process(element) = yield([element, *@options, feed(1, 2, 3), reading(0), drain])

  def finish
    yield [:end, @input]
  end

  def full? = @reading > 3
  def feed(*given) = given.sum
  def reading(by) = @reading += by + 1
  def drain = :dry
end
p Busy.new([1, 2], :x).to_a, Busy.new([1, 2, 3, 4, 5, 6], :x).union([], all: true).count

class Taken < Kumihimo::Flow::Join
  def initialize(left, right, words, **how, &)
    @kind = @unique = @where = @construct = @options = @budget = @kernel = @inputs = @left_key = @nils = @ranged = words
    super(left, right, **how, &)
    @kind = @unique = @where = @construct = @options = @budget = @kernel = @inputs = @left_key = @nils = @ranged = words
  end

  def key_left(left) = left
  def key_right(right) = right
  def construct(left, right) = [left, right, @kind, maker, kind(1)]

  def start = @started = true
  def stop = puts("stopped: #{@started}")
  def reading(a, b, c) = raise
  def receive = raise
  def ended = raise
  def wants? = raise
  def complete? = raise
  def drain = raise
  def general = raise
  def simple? = raise
  def lambdas = raise
  def unique = raise
  def nils?(a, b) = raise
  def kind(number) = number + 1

  private

  def maker = :made
end
p Taken.new([1, 2, 3], [3, 2], :w).sort_by { |row| row[0] }.to_a
p Taken.new((1..40).to_a, (30..50).to_a, :w, rows: 5).map(&:first).sort.to_a
p Taken.new([1, 2], [2], :w, kind: :left).sort_by { |row| row[0] }.to_a
