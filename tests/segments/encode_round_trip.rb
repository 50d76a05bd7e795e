# What travels between nodes arrives as it was: type, value, encoding, order.
require "kumihimo/segments"
require "set"

def encode(value) = Kumihimo::Segments.encode(value)
def decode(bytes, freeze = false, symbols = nil) = Kumihimo::Segments.decode(bytes, freeze:, symbols:)

Point = Struct.new(:x, :y)
Named = Struct.new(:id, :name, keyword_init: true)
Pair = Data.define(:left, :right)
Empty = Data.define
module Shop
  class Item < Struct.new(:id, :price)
    def total = price * 2
  end
  Order = Data.define(:items, :at) do
    def count = items.size
  end
end

SLOW = ENV["KUMI_GC_STRESS"] || ENV["KUMI_TLH_STRESS"]

def trip(value, freeze = false) = decode(encode(value), freeze)

# The same, and the same kind of thing, all the way down.
def same?(a, b)
  return false unless a.class.equal?(b.class)
  case a
  when Float then [a].pack("G") == [b].pack("G")
  when String then a.encoding == b.encoding && a.b == b.b
  when Symbol then a.equal?(b) && a.encoding == b.encoding
  when Time then a.eql?(b) && a.utc_offset == b.utc_offset && a.utc? == b.utc? && a.subsec == b.subsec && a.zone == b.zone
  when Array then a.size == b.size && a.zip(b).all? { |x, y| same?(x, y) }
  when Hash
    a.compare_by_identity? == b.compare_by_identity? && same?(a.default, b.default) && a.size == b.size &&
      a.to_a.zip(b.to_a).all? { |x, y| same?(x, y) }
  when Set then a.compare_by_identity? == b.compare_by_identity? && same?(a.to_a, b.to_a)
  when Range then a.exclude_end? == b.exclude_end? && same?([a.begin, a.end], [b.begin, b.end])
  when Struct, Data then same?(a.to_h, b.to_h)
  when Rational then same?([a.numerator, a.denominator], [b.numerator, b.denominator])
  when Complex then same?(a.rect, b.rect)
  else a.eql?(b)
  end
end

def check(*values)
  values.each do |value|
    [false, true].each do |freeze|
      back = trip(value, freeze)
      puts "differs: #{value.inspect} came back as #{back.inspect}" unless same?(value, back)
      puts "not shareable: #{value.inspect}" if freeze && !Ractor.shareable?(back)
    end
  end
end

check nil, true, false
check 0, 1, -1, 31, 32, 127, 128, 255, 256, -32, -33, -128, -129, 65_535, 65_536, 2**31, 2**32, 2**62 - 1, 2**62, -2**62, -2**62 - 1,
      2**63 - 1, 2**63, 2**64 - 1, 2**64, -2**63, -2**63 - 1, 10**100, -10**1000, 2**4096
check 0.0, -0.0, 1.5, -1e300, 1e-320, Float::MAX, Float::MIN, Float::INFINITY, -Float::INFINITY, Float::NAN
check [0x7FF8_0000_0000_1234].pack("Q").unpack1("d"), [0xFFF0_0000_0000_0001].pack("Q").unpack1("d")
check "", "abc", "größer", "漢字😀", "x" * 100_000, "é" * 50_000, "\xFF", "a\xC3", "".b, "\x00\xFF".b, "plain".encode("US-ASCII"),
      "größer".encode("ISO-8859-1"), "日本".encode("Shift_JIS"), "日本".encode("UTF-16LE"), "日本".encode("EUC-JP"), "x".encode("UTF-32BE"),
      "\xFF".dup.force_encoding("US-ASCII")
check :a, :"", :größe, :"with space", :+, :[]=, :"日本".to_s.encode("EUC-JP").to_sym, "caf\xE9".dup.force_encoding("ISO-8859-1").to_sym
check 1r, 2/3r, -7/11r, Rational(10**30, 3), 1i, Complex(1, 2.5), Complex(1r / 3, -0.0), Complex(10**30, 0)
check [], [nil], [[], [[]], {}], [1, "two", :three, 4.0], (1..(SLOW ? 1000 : 100_000)).to_a, ["a"] * 100
check({}, { a: 1 }, { "a" => 1, :b => { c: [] }, nil => nil, 1.5 => 2, [1] => 3 }, (1..200).to_h { |i| [i, i.to_s] })
check Hash.new(5).merge(a: 1), Hash.new([1, { b: 2 }]), { "k" => 1 }.compare_by_identity, {}.compare_by_identity
default = Hash.new(7).compare_by_identity
default["x".dup] = 1
default["x".dup] = 2
check default
check Set[], Set[1, "a", [2]], Set[Set[1], Set[]], Set.new.compare_by_identity.add("a".dup).add("a".dup)
check 1..2, 1...2, (1..), (..1), (nil..nil), "a".."f", 1.0...2.5, (Time.at(0)..Time.at(5))
check Time.at(0), Time.at(0).utc, Time.at(1_790_000_000, 123_456_789, :nsec, in: "+05:30"), Time.at(-1, in: "-09:30"), Time.at(1/3r).utc,
      Time.at(0.1, in: "+00:00"), Time.utc(9999, 12, 31, 23, 59, 59.999r), Time.utc(-4000), Time.new(2024, 7, 1, 12, 0, 0)
check Point.new(1, [2]), Point.new, Named.new(id: 1, name: "n"), Pair.new(1, Pair.new({ a: Point.new }, nil)), Empty.new, Shop::Item.new(1, 2.5),
      Shop::Order.new([Shop::Item.new(1, 2), Shop::Item.new(2, 3)], Time.at(0).utc)
check({ Point.new(1, 2) => 1, Pair.new(1, 2) => 2, (1..2) => 3, 2r => 4 })

item = trip(Shop::Item.new(3, 4))
p item, item.class, item.total, item.frozen?, trip(Shop::Item.new(3, 4), true).frozen?
p trip(Shop::Order.new([1], nil)).count, trip(Pair.new([], [])).frozen?, trip(Pair.new([], [])).left.frozen?
p trip({ "key" => 1 }).keys[0].frozen?, trip("a").frozen?, trip("a", true).frozen?
h = trip(Hash.new(5))
p h[:x], h.default
h[:x] = 1
p h
s = trip(Set[3, 1])
p s.add(2), s.include?(3)
p trip(Time.at(0, in: "+01:00")), trip(Time.at(1/3r).utc).subsec

# Keys whose class has a hash of its own are found again; so are frozen ones.
class Version < Struct.new(:text)
  def hash = text.downcase.hash
  def eql?(other) = text.downcase == other.text.downcase
end
versions = trip({ Version.new("A") => 1, Version.new("b") => [Set[Version.new("C")]] })
p versions[Version.new("a")], versions[Version.new("B")][0].include?(Version.new("c"))
versions = trip({ Version.new("A") => { Version.new("d") => 1 } }, true)
p versions[Version.new("a")][Version.new("D")], versions.frozen?, versions[Version.new("a")].frozen?

times = trip({ Time.at(5) => 1, Time.at(1/3r) => { Time.at(6).utc => 2 } })
p times[Time.at(5)], times[Time.at(1/3r)][Time.at(6)], trip(Set[Time.at(7)]).include?(Time.at(7)), times == { Time.at(5) => 1, Time.at(1/3r) => { Time.at(6) => 2 } }

# What is referred to twice arrives twice.
shared = ["s"]
a, b = trip([shared, shared])
p a == b, a.equal?(b)

# A million arrays in one another (fewer where each collection is checked), and strings that are large.
levels = SLOW ? 2000 : 1_000_000
deep = []
(levels - 1).times { deep = [deep] }
back = trip(deep)
depth = 0
depth += 1 while (back = back[0])
p depth == levels - 1
big = Random.new(1).bytes(SLOW ? 100_000 : 5_000_000)
p trip(big) == big, trip([big.inspect])[0].size == big.inspect.size
puts "done"
