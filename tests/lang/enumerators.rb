require "set"
e = [1, 2, 3].each
p e.next, e.peek, e.next, e.next, (e.next rescue $!.class), e.size
e.rewind
p e.next
fib = Enumerator.new do |y|
  a, b = 0, 1
  loop { y << a; a, b = b, a + b }
end
p fib.take(10), fib.lazy.select(&:even?).first(5), fib.each_with_index.first(3), fib.first
p [4, 5].each_with_index.to_a, [4, 5].each.with_index(1).map { |x, i| x * i }, %w[a b].each_with_object([]).to_a.size, [1, 2, 3].each_slice(2).size
p (1..Float::INFINITY).lazy.map { |x| x * 2 }.reject(&:zero?).take_while { |x| x < 10 }.to_a, (1..3).each_entry.to_a, [1, 2].cycle.lazy.map { |x| x + 1 }.first(4)
g = (1..3).each_with_index
p g.next, g.next, g.class, [1, 2, 3].map.with_index { |x, i| [i, x] }, [3, 1].sort_by.with_index { |x, i| -i }
def each_pair_of(n)
  return to_enum(__method__, n) { n * 2 } unless block_given?
  n.times { |i| yield i, i * i }
end
p each_pair_of(3).to_a, each_pair_of(4).size, each_pair_of(2).next
p Enumerator.produce(1) { |x| x * 2 }.take(5), Enumerator.produce([1, 1]) { |a, b| [b, a + b] }.lazy.map(&:first).first(5)
ch = [1, 2].each + [3]
p ch.to_a, ch.class, [1, 2, 3].each_cons(2).to_a, "abc".each_char.with_index.to_a, 3.times.map { |x| x }, 1.step(by: 2, to: 7).to_a, 1.upto(3).size
class Tree
  include Enumerable
  def initialize(*v) = @v = v
  def each(&b)
    @v.each(&b)
    self
  end
end
t = Tree.new(3, 1, 2)
p t.sort, t.map { |x| x + 1 }, t.include?(2), t.min, t.max, t.sum, t.to_a, t.first, t.first(2), t.inject(:+), t.each_slice(2).to_a, t.sort_by { |x| -x }, t.reduce(10) { |a, b| a + b }
p t.each_with_index.to_a, t.to_set.size, t.zip([7, 8, 9]), t.each_entry.to_a, t.min_by { |x| -x }, t.partition(&:odd?), t.group_by(&:odd?).to_a, t.tally.to_a, t.each_cons(2).to_a, t.find_index(1), t.lazy.map { |x| x * 2 }.to_a, t.chunk_while { |a, b| b > a }.to_a, t.entries, t.count, t.none?, t.all?(Integer), t.any?(3), t.one?(1), t.reverse_each.to_a, t.cycle(2).to_a, t.drop_while { |x| x > 2 }, t.flat_map { |x| [x, x] }, t.uniq, t.minmax
z = e.with_object(:o)
p z.class, [1, 2, 3].each.next_values, e.inspect, [1].each_with_index.inspect
l = (1..20).lazy.select(&:even?).map { |x| x * 3 }
p l.class, l.first(2), l.eager.class, l.include?(12), l.force.size, (1..3).lazy.zip(4..6).to_a, (1..3).lazy.flat_map { |x| [x, x] }.to_a, (1..4).lazy.each_slice(2).to_a, (1..3).lazy.uniq { |x| x % 2 }.to_a, (1..3).lazy.filter_map { |x| x * 2 if x > 1 }.to_a, (1..3).lazy.with_index.to_a, (1..3).lazy.compact.to_a
