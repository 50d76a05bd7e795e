# Keys that are in no order, numbers that are none, and inputs that end neither by coming to their end nor by an error.
require "kumihimo/flow"

def told
  p yield
rescue StandardError => error
  puts "#{error.class}: #{error.message}"
end

puts "-- NaN lies in no range, and no range that it bounds covers anything"
NAN = Float::NAN
spans = [[0, 5], [NAN, 9], [0, NAN], [NAN, nil], [nil, NAN]]
told { Kumihimo.flow([1.0, NAN, 7.0]).join(spans, range: %i[itself itself]).to_a }
told { Kumihimo.flow([1.0, NAN]).join(spans, range: %i[itself itself], kind: :full).map(&:inspect).sort.to_a }
told { Kumihimo.flow([1.0, NAN, 2.0]).join([1.0, NAN], on: :itself, band: -1..1).to_a }
# Enough for the sorted runs of a table.
told { Kumihimo.flow([42.5, NAN]).join(Array.new(200) { |at| at % 9 == 4 ? [NAN, at] : [at, at + 1] }, range: %i[itself itself]).to_a }

puts "-- windows"
told { Kumihimo.flow([1.0, NAN]).window(2, by: :itself).to_a }
told { Kumihimo.flow([1.0, NAN]).window(gap: 2, by: :itself).to_a }
told { Kumihimo.flow([1.0, Float::INFINITY]).window(gap: 2, by: :itself).to_a }
told { Kumihimo.flow([Complex(1, 1)]).window(2, by: :itself).to_a }
[[0], [NAN], ["a"], [2, { step: -1 }], [10**9, { step: 1, by: :itself }], [2, { lateness: 1 }], [2, { by: :itself, lateness: -1 }], [{ gap: -1, by: :itself }], [{ gap: 1, step: 1, by: :itself }],
 [{ gap: 1, by: :itself, lateness: 1 }]].each do |arguments|
  options = arguments.last.is_a?(Hash) ? arguments.pop : {}
  told { Kumihimo.flow([1]).window(*arguments, **options) }
end
told { Kumihimo.flow([1, 1, 2]).window(gap: 0, by: :itself).map(&:to_a).to_a }

puts "-- numbers of elements"
told { Kumihimo.flow([1, 2, 3]).take(2.9).to_a }
told { Kumihimo.flow([1, 2, 3]).top(1 << 80).to_a }
told { Kumihimo.flow([1, 2, 3]).drop(1 << 80).to_a }
%i[take drop top].each do |name|
  [nil, "1", -1].each { |count| told { Kumihimo.flow([1]).public_send(name, count).to_a } }
end

puts "-- nil belongs to nothing, as-of joins too"
told { Kumihimo.flow([[2, nil], [2, 5], [nil, 5]]).asof_join([[1, nil], [1, 5]], on: 0, by: 1).to_a }

puts "-- codecs that lose or change what they are given"
def codec(dump, load) = Object.new.tap { |made| made.define_singleton_method(:dump, &dump); made.define_singleton_method(:load, &load) }
[codec(->(_) { nil }, ->(_) { nil }), codec(->(_) { "" }, ->(_) { 1 }), codec(->(_) { "x" }, ->(_) { [] }),
 codec(->(block) { Marshal.dump(block) }, ->(text) { Marshal.load(text).map { |part| part.drop(1) } })].each do |bad|
  told { Kumihimo.flow((1..50).to_a.reverse).sort(rows: 5, codec: bad).first(2) }
  told { Kumihimo.flow(1..50).join(1..50, on: :itself, rows: 5, codec: bad).count }
end

puts "-- an input that throws, and one whose thread ends"
class Input
  include Enumerable

  def initialize(count, &ending)
    @count = count
    @ending = ending
  end

  def each
    @count.times { |at| yield at }
    @ending.call
  end
end

THREADS = Thread.list.size
[->(flow) { flow.map(&:itself) }, ->(flow) { flow.join(0..9, on: :itself) }, ->(flow) { Kumihimo.flow(0..9).merge_join(flow, on: :itself) },
 ->(flow) { flow.union(0..9) }].each do |make|
  told { catch(:out) { make.call(Kumihimo.flow(Input.new(3) { throw :out, :thrown })).to_a } }
  told { make.call(Kumihimo.flow(Input.new(3) { throw :nowhere })).to_a }
end
told { Kumihimo.flow(Input.new(3) { Thread.current.kill }).join(0..9, on: :itself).to_a }
seen = []
told { Kumihimo.flow(Input.new(3) { Thread.current.kill }).union([], all: true).each { seen << _1 } }
p seen
10_000.times do
  break if Thread.list.size == THREADS
  sleep 0.005
end
p Thread.list.size - THREADS
