# Operators over one input and over sets, against naive ones, read both ways: by `each`, and by a reader in batches.
require "kumihimo/flow"

Row = Struct.new(:id, :key, :value)

# All of a reader, in batches of several sizes.
def drained(flow, sizes = [1, 3, 1000])
  reader = flow.flow_reader
  out = []
  turn = 0
  while (batch = reader.take_batch(max = sizes[(turn += 1) % sizes.size]))
    raise "batch of #{batch.size}, asked for #{max}" if batch.size > max
    Kumihimo::Flow.wait([reader]) if batch.empty?
    out.concat(batch)
  end
  raise "after the end" unless reader.take_batch(1).nil?
  reader.close
  reader.close
  out
end

$checks = 0
def check(name, expected, flow)
  [flow.to_a, flow.to_a, drained(flow), flow.first(expected.size)].each_with_index do |got, way|
    got = yield(got) if block_given?
    $checks += 1
    next if got == expected
    puts "#{name} (#{way}): #{got.first(20).inspect}, expected #{expected.first(20).inspect}"
    exit 1
  end
end

random = Random.new(3)
rows = Array.new(700) { |id| Row.new(id, random.rand(60), random.rand(1000)) }
numbers = rows.map(&:value)
flow = Kumihimo.flow(rows)

check("map", rows.map(&:value), flow.map(&:value))
check("select", rows.select { _1.value.even? }, flow.select { _1.value.even? })
check("filter", rows.select { _1.value.even? }, flow.filter { _1.value.even? })
check("reject", rows.reject { _1.value.even? }, flow.reject { _1.value.even? })
check("filter_map", rows.filter_map { _1.value if _1.id.odd? }, flow.filter_map { _1.value if _1.id.odd? })
check("flat_map", rows.flat_map { [_1.key] * (_1.id % 4) }, flow.flat_map { [_1.key] * (_1.id % 4) })
check("flat_map of flows", rows.first(9).flat_map { (0..._1.id).to_a }, flow.take(9).flat_map { |row| Kumihimo.flow(0...row.id) })
check("flat_map of others", [1, 2], Kumihimo.flow([1, 2]).flat_map { _1 })
check("compact", [1, false, 2], Kumihimo.flow([1, nil, false, 2, nil]).compact)
check("take", rows.first(10), flow.take(10))
check("take 0", [], flow.take(0))
check("take_while", rows.take_while { _1.value < 990 }, flow.take_while { _1.value < 990 })
check("drop", rows.drop(690), flow.drop(690))
check("drop_while", rows.drop_while { _1.value < 990 }, flow.drop_while { _1.value < 990 })
check("with_index", rows.each_with_index.map { |row, at| [row, at + 1] }, flow.with_index(1))
check("with_index and a block", rows.each_with_index.map { |row, at| row.value * at }, flow.with_index { |row, at| row.value * at })
check("list_map", [[2, 4], [6], []], Kumihimo.flow([[1, 2], [3], []]).list_map { |x| x * 2 }) { |got| got.map(&:to_a) }
check("list_map of a field", [["1a", "2a"], ["1b"]], Kumihimo.flow([{ n: "a", l: [1, 2] }, { n: "b", l: [1] }]).list_map(:l) { |x, row| "#{x}#{row[:n]}" }) { |got| got.map(&:to_a) }
check("group_by sorted", [1, 1, 2, 3, 3, 1].slice_when { _1 != _2 }.map { [_1[0], _1] }, Kumihimo.flow([1, 1, 2, 3, 3, 1]).group_by(:itself, sorted: true))
check("top", rows.sort_by { [-_1.value, _1.id] }.first(20), flow.top(20, :value))
check("top, least", rows.sort_by { [_1.value, _1.id] }.first(20), flow.top(20, :value, least: true))
check("top of all", numbers.sort.reverse, flow.map(&:value).top(5000))
check("top 0", [], flow.top(0, :value))
check("nothing", [], Kumihimo.flow([]).sort.group_by(:itself).top(3, 0).window(2).flat_map(&:rows))

# A collector that runs all the time takes its time.
(ENV["KUMI_GC_STRESS"] ? [300] : [nil, 1, 10, 300, 5000]).each do |bound|
  check("distinct #{bound}", rows.map(&:key).uniq.sort, flow.map(&:key).distinct(rows: bound), &:sort)
  check("distinct by #{bound}", rows.uniq(&:key).map(&:id).sort, flow.distinct(:key, rows: bound).map(&:id), &:sort)
  check("group_by #{bound}", rows.group_by(&:key).sort, flow.group_by(:key, rows: bound), &:sort)
  check("sort #{bound}", numbers.sort, flow.map(&:value).sort(rows: bound))
  check("sort by #{bound}", numbers.sort.reverse, flow.sort(:value, reverse: true, rows: bound).map(&:value))
  check("sort, block #{bound}", numbers.sort_by { -_1 }, flow.map(&:value).sort(rows: bound) { |one, other| other <=> one })
  check("sort_by #{bound}", rows.sort_by { [_1.key, _1.id] }, flow.sort_by([:key, :id], rows: bound))
  check("union #{bound}", (numbers | [3, 3, 2000]).sort, flow.map(&:value).union([3, 3, 2000], rows: bound), &:sort)
  check("intersect #{bound}", (numbers & (0..500).step(7).to_a * 2).sort, flow.map(&:value).intersect((0..500).step(7).to_a * 2, rows: bound), &:sort)
  check("except #{bound}", (numbers.uniq - (0..500).to_a).sort, flow.map(&:value).except(0..500, rows: bound), &:sort)
  ours = numbers.first(400).map { _1 % 30 }
  theirs = numbers.last(250).map { _1 % 40 }
  both = ours.tally.flat_map { |value, count| [value] * [count, theirs.count(value)].min }.sort
  less = ours.tally.flat_map { |value, count| [value] * [count - theirs.count(value), 0].max }.sort
  [[ours, theirs], [ours.each_entry, theirs], [ours, theirs.each_entry]].each do |one, other|
    check("intersect all #{bound}", both, Kumihimo.flow(one).intersect(other, all: true, rows: bound), &:sort)
    check("except all #{bound}", less, Kumihimo.flow(one).except(other, all: true, rows: bound), &:sort)
  end
end
check("sort, a byte bound", numbers.sort, flow.map(&:value).sort(memory: "4K"))
check("group_by, a byte bound", rows.group_by(&:key).sort, flow.group_by(:key, memory: "0.1K"), &:sort)
check("nil is an element", [nil, 1], Kumihimo.flow([nil, 1, nil]).intersect([nil, 1]))
check("nil is left out", [1], Kumihimo.flow([nil, 1, nil]).except([nil]))
check("union all", (rows + rows).map(&:id).sort, flow.union(rows, all: true).map(&:id), &:sort)
check("union of four", (0...40).to_a, Kumihimo.flow(0...10).union(10...20, 20...30, 30...40), &:sort)
sorted = numbers.sort
check("merge", (sorted + sorted + (0..100).to_a).sort, Kumihimo.flow(sorted).merge(sorted, 0..100))
check("merge by", [[1, :a], [1, :b], [2, :a]], Kumihimo.flow([[1, :a], [2, :a]]).merge([[1, :b]], by: 0))
check("zip", [[1, 4, 6], [2, 5, nil], [3, nil, nil]], Kumihimo.flow([1, 2, 3]).zip([4, 5], [6]))
check("zip with no end", [[1, 1], [2, 2]], Kumihimo.flow([1, 2]).zip(1..))

# Windows.
windows = ->(got) { got.map { |window| [window.from, window.to, window.rows] } }
check("count", [[0, 3, [0, 1, 2]], [3, 6, [3, 4, 5]], [6, 7, [6]]], Kumihimo.flow(0..6).window(3), &windows)
check("sliding", [[0, 4, [0, 1, 2, 3]], [2, 6, [2, 3, 4, 5]]], Kumihimo.flow(0..6).window(4, step: 2), &windows)
check("skipping", [[0, 2, [0, 1]], [3, 5, [3, 4]], [6, 7, [6]]], Kumihimo.flow(0..6).window(2, step: 3), &windows)
check("key", [[0, 10, [1, 9]], [10, 20, [10]], [40, 50, [42, 43]]], Kumihimo.flow([1, 9, 10, 42, 43]).window(10, by: :itself), &windows)
check("key, sliding", [[-5, 5, [1]], [0, 10, [1, 7]], [5, 15, [7, 12]], [10, 20, [12]]], Kumihimo.flow([1, 7, 12]).window(10, step: 5, by: :itself), &windows)
check("late", [[0, 10, [9, 8]], [10, 20, [12]], [20, 30, [25]]], Kumihimo.flow([9, 12, 8, 25]).window(10, by: :itself, lateness: 5), &windows)
check("sessions", [[1, 4, [1, 3, 4]], [10, 12, [10, 12]]], Kumihimo.flow([1, 3, 4, 10, 12]).window(gap: 2, by: :itself), &windows)
check("block", [[0, 2, [1, 2]], [2, 4, [1, 5]], [4, 5, [0]]], Kumihimo.flow([1, 2, 1, 5, 0]).window { |one, other| other < one }, &windows)
noon = Time.utc(2026, 11, 22, 12)
Kumihimo.flow([noon + 5, noon + 59, noon + 61]).window(60, by: :itself).each { |window| p [window.from, window.to, window.size] }
begin
  Kumihimo.flow([1, 25, 3]).window(10, by: :itself).each { |window| p window.to_a }
rescue Kumihimo::Flow::UnsortedError => error
  puts error.message
end
[[0], [3, { by: 0, gap: 1 }], [], [1.5], [{ gap: 3 }]].each do |arguments|
  options = arguments.last.is_a?(Hash) ? arguments.pop : {}
  Kumihimo.flow([]).window(*arguments, **options)
rescue ArgumentError => error
  puts error.message
end

# An operator of your own keeps a state for each reading.
class Rises < Kumihimo::Flow::Operator
  def initialize(input, least = 0)
    super(input)
    @least = least
  end

  def start = @last = nil

  def process(price)
    yield [@last, price] if @last && price > @last + @least
    @last = price
  end

  def finish = yield(:end)
end
rises = Kumihimo.flow([1, 3, 2, 9]).through(Rises, 2)
check("own", [[2, 9], :end], rises)
check("own", [[1, 3], [2, 9], :end], Rises.new([1, 3, 2, 9]))

# Whatever Enumerable there is.
check("Hash", [[:a, 1]], Kumihimo.flow({ a: 1 }))
check("Set", [1, 2], Kumihimo.flow(Set[1, 2]).select { true })
check("Range", (5..90).to_a, Kumihimo.flow(5..90))
check("Range of others", %w[a b c], Kumihimo.flow("a".."c").map(&:itself))
check("Enumerator", [0, 1, 1, 2, 3, 5, 8], Kumihimo.flow(Enumerator.produce([0, 1]) { |a, b| [b, a + b] }).map(&:first).take(7))
check("several values", [[1, 0], [2, 1]], Kumihimo.flow([1, 2].each_with_index))
check("Enumerator::Lazy", [2, 4], Kumihimo.flow((1..).lazy.map { _1 * 2 }).take(2))
[3, nil, "a"].each do |thing|
  Kumihimo.flow(thing)
rescue TypeError => error
  puts error.message
end
p flow.map(&:value).inspect, Kumihimo.flow([1]).join([2], on: :itself).inspect
p flow.sum(&:value) == numbers.sum, flow.include?(rows[5]), flow.min_by(&:value) == rows.min_by(&:value), flow.each_slice(300).map(&:size), flow.lazy.map(&:id).first(2)
puts $checks > 100 ? "all agree" : $checks
