# What can't travel: which part, where it stands, and why.
require "kumihimo/segments"

def encode(value) = Kumihimo::Segments.encode(value)
def decode(bytes, freeze = false, symbols = nil) = Kumihimo::Segments.decode(bytes, freeze:, symbols:)

Point = Struct.new(:x, :y)
Pair = Data.define(:left, :right)
class Plain; end
class Names < Array; end
class Text < String; end
class Table < Hash; end
class Moment < Time; end
class Bag < Set; end
class Span < Range; end

def refused(value)
  encode(value)
  puts "it travels: #{value.inspect}"
rescue Kumihimo::Segments::NotTransferable => e
  puts e.message
end

refused Thread.current
refused [1, 2, 3, { name: Thread.current }]
refused proc {}
refused lambda {}
refused Plain.new
refused [Plain]
refused({ "a" => [Kernel] })
refused RuntimeError.new("x")
refused [1, [2, ArgumentError.new]]
refused Names.new
refused({ a: Text.new("x") })
refused Table.new
refused Bag.new
refused Span.new(1, 2)
refused Moment.now
refused Hash.new { 1 }
refused [Hash.new([1, proc {}])]
refused({ Plain.new => 1 })
refused({ 1 => 2, [3, Plain.new] => 4 })
refused({ "a long key #{"x" * 100}" => Plain.new })
refused({ [1, :b] => $stdout, 2.5 => 1 })
refused Set[1, Plain.new]
refused((Plain.new.method(:inspect)..nil)) rescue puts $!.message
refused Point.new(1, Pair.new([1, { deep: Plain.new }], 2))
refused Pair.new(1, /x/)
refused Struct.new(:a).new(1)
refused Data.define(:a).new(1)
refused [Enumerator.new { }]
refused Mutex.new
refused Queue.new
refused ObjectSpace::WeakMap.new
refused binding
refused $stdin
refused Object.new
refused BasicObject
refused Encoding::UTF_8
refused Random.new(1)
refused Process.clock_gettime(Process::CLOCK_MONOTONIC).method(:+)

own = [1]
def own.first = 2
refused own
tagged = "text".dup
tagged.instance_variable_set(:@tag, 1)
refused [tagged]
point = Point.new(1, 2)
point.instance_variable_set(:@memo, 1)
refused({ point: })
extended = [1].extend(Comparable)
refused extended

itself = [1]
itself << [2, { me: itself }]
refused itself
hash = Hash.new
hash[:default] = 1
hash.default = [hash]
refused hash
point = Point.new(1)
point.y = [point]
refused point
deep = [Plain.new]
100.times { deep = [deep] }
refused deep
refused Time.new(2024, 1, 1, 0, 0, 0, 3600.5r)

# A class that is not what its name stands for.
Gone = Struct.new(:a)
gone = Gone.new(1)
Object.send(:remove_const, :Gone)
refused [gone]
Gone = Struct.new(:b)
refused gone

# Nothing was changed by it.
p point.frozen?, point.y.frozen?
p Kumihimo::Segments::NotTransferable.ancestors.take(3)
