# A member may have the name of any method: what Struct does, it does without asking that.
%i[size length members values to_a each hash dig select values_at each_pair deconstruct fetch keys map].each do |name|
  c = Struct.new(name, :b)
  s = c.new(1, [2, 3])
  seen = []
  seen << s[1] << c.members << (s == c.new(1, [2, 3])) << Struct.new(name, :b, keyword_init: true).new(name => 1, b: 2)[1]
  seen << s.each.size << s.each.to_a unless name == :each
  s.each_pair { |k, v| seen << k << v } unless name == :each_pair
  seen << s.each_pair.to_a unless name == :each_pair
  seen << s.values_at(0, 0..1) unless name == :values_at
  seen << s.select { |v| v != 1 } unless name == :select
  seen << s.dig(:b, 0) unless name == :dig
  seen << (c.new(1, 2, 3) rescue $!.message) << (s[7] rescue $!.message)
  p name, seen
end

# Enumerable goes by `each` alone.
class Own
  include Enumerable
  def each = (yield 3; yield 1; self)
  def to_a = [:own]
  def size = 99
end
p Own.new.sort, Own.new.sort { |a, b| b <=> a }, Own.new.reverse_each.to_a, Own.new.reverse_each { }.class, Own.new.entries
class List < Array
  def dup = raise
end
p List[1, 2].intersection([2]), List[1, 1].intersection

# Readers and writers take no keywords.
S = Struct.new(:b)
class A; attr_reader :q; attr_writer :w; def initialize = @q = 1; end
s = S.new(1)
a = A.new
[-> { s.b(x: 1) }, -> { s.b(**{}) }, -> { s.send(:b=, x: 1) }, -> { s.send(:b=, 1, x: 2) }, -> { a.q(x: 1) }, -> { a.q(**{ x: 2 }) }, -> { a.public_send(:q, x: 1) }, -> { a.method(:q).call(x: 1) }, -> { a.send(:w=, x: 1) }, -> { a.send(:w=, **{}) }, -> { a.send(:w=, 1, x: 1) }].each do |call|
  p call.()
rescue ArgumentError
  puts $!.message
end
class Map < Hash
  def to_a = raise
end
p Map[a: 1, b: 2].transform_keys!(&:to_s), Map[a: 1, b: 2].transform_keys!({ a: :b, b: :a }), Map[a: 1].compare_by_identity.transform_keys!(&:to_s)
class Loud < Array
  def []=(i, v); raise; end
end
a = Loud[1, 2]
p a.map! { |x| x + 1 }, (a.fill { |i| i }), Loud[1, 2].map!.with_index { |x, i| [x, i] }
class Map
  def [](k) = raise
  def fetch(k, *) = raise
end
m = Map.new { |h, k| k }
m.store(:a, 1)
p m.values_at(:a, :b), m.fetch_values(:a), m.fetch_values(:a, :c) { |k| k }, (m.fetch_values(:d) rescue $!.message)
class Own; private :size; end
p Own.new.map.size
# StringIO#puts walks an Array by itself.
require "stringio"
io = StringIO.new
a = [1, [2, "x"]]
def a.each = raise("asked")
io.puts(a)
p io.string
