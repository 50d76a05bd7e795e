# Inner joins by keys of every kind: those that the native loop handles, and those that only Ruby can compare.
require "kumihimo/flow"

class Named
  attr_reader :name

  def initialize(name) = @name = name
  def hash() = name.hash
  def eql?(other) = other.is_a?(Named) && name == other.name
end

Row = Struct.new(:key, :id)
KINDS = [->(_) {}, ->(n) { n }, ->(n) { n.to_s }, ->(n) { n.to_f }, ->(n) { n << 70 }, ->(n) { [n, "a"] }, ->(n) { Named.new(n) },
         ->(n) { n.to_s.to_sym }, ->(n) { { n => 1 } }, ->(n) { Rational(n, 3) }, ->(_) { 0.0 }, ->(_) { -0.0 }].freeze
random = Random.new(1)
rows = ->(count) { Array.new(count) { |id| Row.new(KINDS.sample(random: random).call(random.rand(12)), id) } }
12.times do |turn|
  left = rows[random.rand(60)]
  right = rows[random.rand(60)]
  expected = left.flat_map { |l| right.filter_map { |r| [l.id, r.id] if !l.key.nil? && l.key.hash == r.key.hash && l.key.eql?(r.key) } }.sort
  flow = Kumihimo.flow(left)
  [flow.join(right, on: :key).map { |l, r| [l.id, r.id] },
   flow.join(right, on: :key) { |l, r| [l.id, r.id] },
   flow.join(right, on: [->(l) { l.key }, 0]) { |l, r| [l.id, r.id] },
   flow.map(&:to_h).join(right, on: :key) { |l, r| [l[:id], r.id] }].each_with_index do |join, way|
    got = join.sort.to_a
    puts "#{turn} #{way}: #{got.size} results, expected #{expected.size}" unless got == expected
  end
end

p Kumihimo.flow([nil, false, 1]).join([nil, false, false, 1], on: ->(x) { x ? 1 : 0 }).to_a.size
p Kumihimo.flow([nil, 1]).join([nil, 1, nil], on: :itself, nils: true).to_a.size
p Kumihimo.flow([1] * 1100).join([1] * 20, on: :itself).count
p Kumihimo.flow([1] * 1100).join([1] * 20, on: :itself) { |one, two| one + two }.uniq.to_a
begin
  Kumihimo.flow([Row.new(1, 2), 5]).join([Row.new(1, 3)], on: :key).each { |pair| p pair.map(&:id) }
rescue NoMethodError => error
  puts error.message
end

# A reader that is private, redefined or defined as a method.
class Odd
  def initialize(at) = @at = at
  attr_reader :at, :hidden
  private :hidden
  def twice = @at * 2
end
odd = Array.new(3) { Odd.new(_1) }
p Kumihimo.flow(odd).join([0, 2], on: [:at, :itself]).map { |one, two| [one.at, two] }.to_a
p Kumihimo.flow(odd).join([0, 2], on: [:twice, :itself]).map { |one, two| [one.at, two] }.to_a
begin
  Kumihimo.flow(odd).join([0, 2], on: [:hidden, :itself]).to_a
rescue NoMethodError => error
  puts error.message
end
