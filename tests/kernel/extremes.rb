# min, max and their kin: of equals the first; keys of any class; elements from any `each`, one at a time.
class Pairs
  include Enumerable

  def each
    yield 3, :c
    yield 1, :a
    yield 2, :b
    yield 1, :z
    self
  end
end

# Keys without a quick comparison.
Key = Struct.new(:n) do
  include Comparable
  def <=>(other) = n <=> other.n
end

words = %w[pear fig apple kiwi date]
p words.min_by(&:size), words.max_by(&:size), words.minmax_by(&:size)
p words.min_by { |w| Key.new(w.size) }, words.max_by { |w| Key.new(w.size) }, words.minmax_by { |w| Key.new(w.size) }
p words.min_by { |w| [w.size, w] }, words.max_by { |w| [w.size, w] }
p words.min_by(2) { |w| [w.size, w] }, words.max_by(2) { |w| [w.size, w] }, words.min(2), words.max(2)
p Pairs.new.min_by { |n, _| n }, Pairs.new.max_by { |n, _| n }, Pairs.new.minmax_by { |n, _| n }
p Pairs.new.min, Pairs.new.max, Pairs.new.minmax
p Pairs.new.min { |a, b| b <=> a }, Pairs.new.max { |a, b| b <=> a }, Pairs.new.minmax { |a, b| b[1] <=> a[1] }
p Pairs.new.min(2), Pairs.new.max(2) { |a, b| a[1] <=> b[1] }
p (1..10).min_by { |n| (n - 5).abs }, (1..10).max_by { |n| Key.new(n % 4) }, (1..10).each_slice(3).min_by(&:sum)
p({ a: 2, b: 1, c: 2 }.min_by { |_, v| v }, { a: 2, b: 1, c: 2 }.max_by { |_, v| v })
p [].min_by { 1 }, (1...1).max_by { 1 }, {}.minmax_by { 1 }, [nil].min_by { 1 }, [nil, nil].each_entry.max_by { 1 }
p (1..9).min_by { |n| break n if n == 4; -n }, [5, 6].max_by { |n| break :out }
p words.each.min_by.with_index { |_, i| -i }, (1..4).max_by.size, [1].min_by(1).class
[[1, "a"], 1..2].each do |list|
  list.min_by { |x| x == 1 ? 1 : "a" }
rescue ArgumentError => e
  puts e.message
end
p (1..6).slice_before(&:odd?).to_a, (1..6).slice_after(3).to_a
[-> { [1].slice_before(1) {} }, -> { [1].slice_before }, -> { [1].slice_after(1) {} }, -> { [1].slice_after }].each do |wrong|
  wrong.call
rescue ArgumentError => e
  puts e.message
end
