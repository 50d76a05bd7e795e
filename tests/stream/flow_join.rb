# Joins of every kind against a naive one, on seeded random data: with and without a bound on memory, in several orders of
# arrival, from inputs that are arrays, operators and queues that stall.
require "kumihimo/flow"

Row = Struct.new(:id, :key, :value)
KINDS = %i[inner left right full semi anti].freeze

def naive(left, right, kind)
  met = {}
  out = []
  left.each do |l|
    found = right.select { |r| yield l, r }
    found.each { |r| met[r.id] = true }
    case kind
    when :semi then out << l unless found.empty?
    when :anti then out << l if found.empty?
    else
      found.each { |r| out << [l, r] }
      out << [l, nil] if found.empty? && %i[left full].include?(kind)
    end
  end
  out.concat(right.reject { |r| met[r.id] }.map { |r| [nil, r] }) if %i[right full].include?(kind)
  canonical(out)
end

def canonical(results) = results.to_a.map { |result| result.is_a?(Row) ? result.id.to_s : result.map { |row| row&.id.inspect }.join("-") }.sort

def rows(random, count, keys) = Array.new(count) { |id| Row.new(id, random.rand(8).zero? ? nil : random.rand(keys), random.rand(100)) }

# The same elements as inputs of several natures. A queue is fed by a thread that stalls.
def natures(rows, random)
  pauses = rows.map { random.rand(40).zero? }
  {
    array: -> { rows },
    operator: -> { Kumihimo.flow(rows).select { true }.map(&:itself) },
    enumerator: -> { rows.each_entry },
    queue: lambda {
      queue = Thread::Queue.new
      Thread.new do
        rows.each_with_index do |row, at|
          sleep 0.0005 if pauses[at]
          queue << row
        end
        queue.close
      end
      queue
    }
  }
end

def check(name, expected, results)
  got = canonical(results)
  return if got == expected
  puts "#{name}: #{got.size} results, expected #{expected.size}; lost #{(expected - got).first(5)}, extra #{(got - expected).first(5)}"
  exit 1
end

# A collector that runs all the time takes its time, and so do stacks that move at every call: then fewer.
SLOW = ENV["KUMI_GC_STRESS"] || ENV["KUMI_STACK_STRESS"]

[[40, 60, 15], [120, 70, 25], [0, 20, 3], [30, 0, 3], [90, 90, 200]].first(SLOW ? 1 : 5).each_with_index do |(lefts, rights, keys), seed|
  random = Random.new(seed)
  left = rows(random, lefts, keys)
  right = rows(random, rights, keys)
  equal = ->(l, r) { !l.key.nil? && l.key == r.key }
  KINDS.each do |kind|
    expected = naive(left, right, kind, &equal)
    conditional = naive(left, right, kind) { |l, r| equal.call(l, r) && l.value < r.value }
    free = naive(left, right, kind) { |l, r| l.value + r.value == 90 }
    (SLOW ? [20] : [nil, 1, 30]).each do |bound|
      natures(left, random).each do |left_nature, lefts_made|
        natures(right, random).each do |right_nature, rights_made|
          next if bound && left_nature != right_nature && (SLOW || seed > 1)
          name = "#{seed} #{kind} rows: #{bound.inspect} #{left_nature} #{right_nature}"
          check(name, expected, Kumihimo.flow(lefts_made.call).join(rights_made.call, on: :key, kind: kind, rows: bound))
          next unless left_nature == right_nature
          check("#{name} where", conditional,
                          Kumihimo.flow(lefts_made.call).join(rights_made.call, on: %i[key key], kind: kind, rows: bound, where: ->(l, r) { l.value < r.value }))
          next if bound == 1 || lefts * rights > 10_000
          check("#{name} any", free,
                          Kumihimo.flow(lefts_made.call).join(rights_made.call, kind: kind, rows: bound, where: ->(l, r) { l.value + r.value == 90 }))
        end
      end
    end
  end
end
puts "equal keys and conditions: all agree"

# A key that is unique on one side or on both.
(SLOW ? 1 : 3).times do |seed|
  random = Random.new(seed)
  once = (0...60).to_a.shuffle(random: random).map { |key| Row.new(key, key, random.rand(50)) }
  many = rows(random, 90, 70)
  other = (30...90).to_a.shuffle(random: random).map { |key| Row.new(key, key, random.rand(50)) }
  KINDS.each do |kind|
    (SLOW ? [10] : [nil, 10, 40]).each do |bound|
      [nil, ->(l, r) { l.value <= r.value }].each do |where|
        same = ->(l, r) { !l.key.nil? && l.key == r.key && (where.nil? || where.call(l, r)) }
        name = "#{seed} #{kind} rows: #{bound.inspect} unique"
        options = { on: :key, kind: kind, rows: bound, where: where }
        check("#{name} left", naive(once, many, kind, &same), Kumihimo.flow(once).join(many, unique: :left, **options))
        check("#{name} right", naive(many, once, kind, &same), Kumihimo.flow(many).join(once, unique: :right, **options))
        check("#{name} both", naive(once, other, kind, &same), Kumihimo.flow(once).join(other, unique: :both, **options))
      end
    end
  end
end
puts "unique keys: all agree"
begin
  Kumihimo.flow([1, 1]).join([2], on: :itself, unique: :left).to_a
rescue Kumihimo::Flow::UniqueError => error
  puts error.message
end

# Ranges: a value in a range, a range around a value, ranges that overlap, a band around a key.
Span = Struct.new(:id, :span)
(SLOW ? 1 : 3).times do |seed|
  random = Random.new(seed)
  points = Array.new(SLOW ? 30 : 100) { |id| Row.new(id, random.rand(10).zero? ? nil : random.rand(1000), 0) }
  spans = Array.new(SLOW ? 20 : 60) do |id|
    low = random.rand(1000)
    high = low + random.rand(60) - 5
    span = case random.rand(8)
           when 0 then (low..)
           when 1 then (..low)
           when 2 then (low...high)
           when 3 then [low, high]
           when 4 then nil
           else (low..high)
           end
    Row.new(id, span, 0)
  end
  cover = ->(span, value) { span && value && (span.is_a?(Array) ? value.between?(*span) : span.cover?(value)) }
  # Which integers a span covers: all bounds are integers, and one that is open ends before the next.
  covered = spans.to_h { |span| [span.key, (0..1100).select { |value| cover.call(span.key, value) }.to_set] }
  overlap = ->(l, r) { l.key && r.key && covered[l.key].intersect?(covered[r.key]) }
  KINDS.each do |kind|
    (SLOW ? [10] : [nil, 40]).each do |bound|
      name = "#{seed} #{kind} rows: #{bound.inspect}"
      check("#{name} range", naive(points, spans, kind) { |l, r| cover.call(r.key, l.key) },
                      Kumihimo.flow(points).join(spans, range: %i[key key], kind: kind, rows: bound))
      check("#{name} range turned", naive(spans, points, kind) { |l, r| cover.call(l.key, r.key) },
                      Kumihimo.flow(spans).join(points, range: %i[key key], kind: kind, rows: bound))
      check("#{name} overlap", naive(spans, spans, kind, &overlap), Kumihimo.flow(spans).join(spans, range: %i[key key], kind: kind, rows: bound))
      check("#{name} band", naive(points, points, kind) { |l, r| l.key && r.key && (-3...5).cover?(r.key - l.key) },
                      Kumihimo.flow(points).join(points, on: :key, band: -3...5, kind: kind, rows: bound))
      check("#{name} open band", naive(points, points, kind) { |l, r| l.key && r.key && r.key - l.key >= 900 },
                      Kumihimo.flow(points).join(points, on: :key, band: (900..), kind: kind, rows: bound, where: ->(_l, _r) { true }))
    end
  end
end
puts "ranges: all agree"

# Sorted inputs.
(SLOW ? 3 : 6).times do |seed|
  random = Random.new(seed)
  size = [0, 1, 30, 200][seed % 4]
  left = rows(random, size, 40).sort_by { |row| row.key || -1 }
  right = rows(random, 120, 40).sort_by { |row| row.key || 100 }
  KINDS.each do |kind|
    [[left, right], [right, left]].each do |one, other|
      expected = naive(one, other, kind) { |l, r| l.key && l.key == r.key }
      natures(one, random).each do |nature, made|
        check("#{seed} #{kind} #{nature} merge", expected, Kumihimo.flow(made.call).merge_join(other, on: :key, kind: kind))
      end
    end
  end
end
puts "merge joins: all agree"
begin
  Kumihimo.flow([1, 3]).merge_join([1, 5, 4], on: :itself).each { |pair| p pair }
rescue Kumihimo::Flow::UnsortedError => error
  puts error.message
end

# As of: the newest that is not after.
Tick = Struct.new(:time, :symbol, :price)
random = Random.new(7)
quotes = Array.new(300) { Tick.new(random.rand(1000), random.rand(4), random.rand(100)) }.sort_by(&:time)
trades = Array.new(100) { Tick.new(random.rand(1000), random.rand(4), random.rand(100)) }.sort_by(&:time)
expected = trades.map { |trade| [trade.to_a, quotes.select { |quote| quote.symbol == trade.symbol && quote.time <= trade.time && trade.time - quote.time <= 20 }.last&.to_a] }
got = Kumihimo.flow(trades).asof_join(quotes, on: :time, by: :symbol, within: 20).map { |trade, quote| [trade.to_a, quote&.to_a] }.to_a
p got == expected
got = Kumihimo.flow(trades).asof_join(quotes.each_entry, on: :time, by: :symbol, within: 20, kind: :inner).map { |trade, quote| [trade.to_a, quote.to_a] }.to_a
p got == expected.select(&:last)

# Own operators.
class Near < Kumihimo::Flow::Join
  def condition(house, shop) = house.start_with?(shop)
  def construct(house, shop) = "#{house} near #{shop}"
end
p Near.new(%w[kyoto-1 nara-2 osaka-3], %w[osaka kyoto]).sort.to_a
p Near.new(%w[kyoto-1 nara-2], %w[osaka kyoto], kind: :full).sort.to_a

class SameTens < Kumihimo::Flow::Join
  def key_left(number) = number / 10
  def key_right(text) = text.to_i / 10
  def condition(number, text) = text.to_i != number
end
p SameTens.new([11, 15, 22], %w[11 12 29 30]).sort.to_a
p Kumihimo.flow([{ id: 1, city: "Nara" }]).join([{ "town" => "Nara" }], on: [:city, "town"]) { |one, other| one[:id] + other.size }.to_a
p Kumihimo.flow([[1, 2, :a], [1, nil, :b]]).join([[1, 2, :c], [1, nil, :d]], on: [[0, 1], [0, 1]], kind: :left).to_a

[{ on: [1, 2, 3] }, { kind: :outer, on: 0 }, {}, { on: 0, unique: :yes }, { on: 0, rows: 0 }, { on: 0, memory: "many" }, { on: Object.new },
 { range: :a }, { range: [0, 1], on: 2 }, { band: 1..2 }].each do |options|
  Kumihimo.flow([]).join([], **options)
rescue ArgumentError => error
  puts error.message.sub(/0x\h+/, "0x")
end
