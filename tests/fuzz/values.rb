# Values that a method does not expect: of each kind, at each edge; objects that lie, raise or change the receiver (`$target`) when
# they are asked for something; never initialised ones. `RNG` chooses, `$endless` allows ranges without an end, `$left` counts what
# may still be asked.

class Budget < StandardError; end
class Odd
  def to_int = 3
  def to_str = "odd"
  def to_ary = [1, 2]
  def to_hash = {a: 1}
  def to_proc = proc { 1 }
  def <=>(_) = 0
  def coerce(o) = [o, 1]
end
class Wrong
  def to_int = "not an integer"
  def to_str = 1
  def to_ary = 2
  def to_hash = nil
  def to_s = 3
  def inspect = nil
  def ==(_) = raise("no ==")
  def hash = "no hash"
  def <=>(_) = nil
  def each = yield(self)
end
# Changes the receiver of the call, or raises, wherever it is asked for something.
class Meddler
  def initialize(way) = @way = way
  def meddle(answer)
    # Who makes longer what is walked over is asked for ever.
    raise Budget, "enough" if ($left -= 1) < 0
    t = $target
    case @way
    when 0 then t.clear if t.respond_to?(:clear)
    when 1 then t.replace(t.class.new) if Array === t || String === t || Hash === t || Set === t
    when 2 then t.freeze if Array === t || String === t || Hash === t || Set === t
    when 3 then raise Budget, "meddled"
    when 4 then t << (String === t ? "more" * 50 : 1) if Array === t || String === t || Set === t
    when 5 then Array === t ? t.shift(2) : String === t ? t.force_encoding("UTF-16LE") : (t.rehash if Hash === t)
    end
    answer
  rescue FrozenError, RangeError
    answer
  end
  def to_int = meddle(1)
  def to_str = meddle("a")
  def to_s = meddle("m")
  def to_ary = meddle([1, 2])
  def to_hash = meddle({a: 1})
  def to_proc = meddle(proc { |x| meddle(x) })
  def to_sym = meddle(:a)
  def to_f = meddle(1.0)
  def to_r = meddle(1r)
  def <=>(o) = meddle(o.hash <=> 0)
  def ==(_) = meddle(@way.even?)
  def ===(_) = meddle(true)
  def eql?(_) = meddle(@way.odd?)
  def hash = meddle(1)
  def coerce(o) = meddle([o, 1])
  def each = (yield meddle(1); yield meddle(2); self)
  def succ = meddle(self)
  def +(_) = meddle(self)
  def call(*) = meddle(1)
end
# Ordinary Strings, Arrays and Hashes whose singleton methods lie.
module Lying
  def to_s = Wrong.new
  def to_str = nil
  def to_ary = [self]
  def hash = 2**70
  def ==(other) = $target.equal?(other) ? raise(Budget, "==") : true
  def eql?(_) = true
  def <=>(_) = "greater"
  def each = (yield self; yield $target; self)
  def size = -1
  def length = 2**64
  def [](*) = self
  def inspect = "\xff"
  def coerce(_) = [self, self]
  def begin = self
  def dup = nil
  def class = nil
  def respond_to?(*) = raise(Budget, "respond_to?")
end
class Text < String
  def to_s = 1
  def ==(_) = meddle(true)
  def hash = meddle(1)
  def <=>(_) = meddle(1)
  def meddle(answer) = (raise(Budget, "enough") if ($left -= 1) < 0; $target.clear if $target.respond_to?(:clear); answer)
end
class List < Array
  def to_a = 1
  def each = raise(Budget, "each")
  def hash = ($target.clear if $target.respond_to?(:clear); 1)
end
class Table < Hash
  def default(_ = nil) = ($target.clear if $target.respond_to?(:clear); 1)
  def each = raise(Budget, "each")
end
class Missing
  def method_missing(name, *) = name == :to_ary ? super : nil
  def respond_to_missing?(*) = true
end
Point = Struct.new(:x, :y)
Named = Struct.new(:a, :b, keyword_init: true)
Datum = Data.define(:left, :right)

def deep(n) = (a = []; [n, 10_000].min.times { a = [a] }; a)
def recursive_array = [1].tap { |a| a << a }
def recursive_hash = {a: 1}.tap { |h| h[:self] = h }
def recursive_struct = Point.new(1, nil).tap { |s| s.y = s }

INTS = [0, 1, -1, 2, 3, 7, 10, 36, 63, 64, 65, 255, 256, 1000, 2**30, 2**31 - 1, 2**31, -2**31, 2**32, 2**32 - 1, 2**53, 2**61, 2**62 - 1, 2**62, -2**62, -2**62 - 1,
        2**63 - 1, 2**63, -2**63, -2**63 - 1, 2**64 - 1, 2**64, 10**25, -10**25, 3**500].freeze
FLOATS = [0.0, -0.0, 0.5, -1.5, 1e-320, 1e20, 1e308, -1e308, Float::NAN, Float::INFINITY, -Float::INFINITY, 2.0**62, 2.0**63, -2.0**63].freeze
STRINGS = ["", "a", "abc", "1", "0x1f", "12.5e3", "1/3", "\xff", "a\xE3\x81", "日本語", "é\u0301", "\u{1F600}", "\0", "a\0b", "\\", "(", "[", "a{9999}", "%", "%s", "%-999999999d", "%1$*2$d", "%c%f%x",
           "C*", "x9999999999", "@99999999999", "w*", "U*", "m", "P", "p", "j*", "^a-z", "a-", "r", "w", "\n", "\r\n", "%Y-%m-%d", "%9999999999Y", "%10000000d", "UTF-8", "US-ASCII", "no such encoding", "**/*", "1_000", "-1e-400", "\u{e0}b".encode("ISO-8859-1"),
           "x" * 300, "\xE3\x81".b, "\xff\xfe".dup.force_encoding("UTF-16LE"), "\0a".dup.force_encoding("UTF-16BE"), "ab\x80".dup.force_encoding("EUC-JP"), "\x82".dup.force_encoding("Shift_JIS"), "@a", "@@a", "$a", "Foo", "Foo::Bar",
           "\e$B4A".dup.force_encoding("ISO-2022-JP"), "+AOk-".dup.force_encoding("UTF-7"), "\u65e5\u672c".encode("UTF-16"), "\xd8\0".dup.force_encoding("UTF-16BE"), "abc".encode("UTF-32LE"),
           "y" * 70_000, "\u65e5" * 20_000, "\xff" * 3000].freeze
SYMBOLS = [:a, :b, :x, :size, :+, :[]=, :foo, :"", :"a b", :"日", :each, :to_s, "\xff".b.to_sym, :up, :nfkc, :@a, :@@a, :$a, :Foo, :half_even, :nanosecond].freeze
PATTERNS = [/a/, //, /(?<n>.)(.)?/, /(a+)+$/, /\xff/n, /[^\x00-\x7f]/, /\Ab|\z/, /(?=x)|y*/, /\G./m].freeze

# Every class that can be allocated: its objects, not initialised.
BARE = ObjectSpace.each_object(Class).reject { |c| c.singleton_class? || c <= IO || c <= Exception && c != Exception && c != KeyError && c != SystemCallError }.select do |c|
  c.allocate
rescue StandardError, NotImplementedError
  nil
end.sort_by { |c| c.name.to_s }.freeze

def scalar
  case RNG.rand(16)
  when 0..3 then INTS.sample(random: RNG)
  when 4, 5 then FLOATS.sample(random: RNG)
  when 6..8 then s = STRINGS.sample(random: RNG); RNG.rand(3) == 0 ? s : s.dup
  when 9, 10 then SYMBOLS.sample(random: RNG)
  when 11 then PATTERNS.sample(random: RNG)
  when 12 then [nil, true, false].sample(random: RNG)
  when 13 then RNG.rand(20) - 5
  when 14 then [Rational(1, 3), Rational(-2**70, 3), Complex(1, -2.5), Complex(Float::NAN, 0), 1.5r].sample(random: RNG)
  else [Comparable, Kernel, Integer, String, Object, Float, Encoding::UTF_8, Encoding::UTF_16LE, BasicObject].sample(random: RNG)
  end
end

def hostile
  case RNG.rand(33)
  when 0..13 then scalar
  when 14 then Array.new(RNG.rand(5)) { scalar }
  when 15 then Array.new(RNG.rand(4)) { scalar }.freeze
  when 16 then begin {scalar => scalar, a: scalar} rescue {} end
  when 17 then recursive_array
  when 18 then recursive_hash
  when 19 then begin Range.new(*($endless ? [[1, 5], [nil, 3], [2, nil], [-1, -1], [0, 2**64], [2**62, nil], [nil, nil]] : [[1, 5], ["a", "e"], [-1, -1], [1.5, 9]]).sample(random: RNG), RNG.rand(2) == 0) end
  when 20 then [Odd, Wrong, Missing, Object, BasicObject].sample(random: RNG).new
  when 21 then [proc { |*a| a }, ->(x) { x }, :upcase.to_proc, method(:deep)].sample(random: RNG)
  when 22 then [Point.new(1, 2), recursive_struct, Named.new(a: 1), Datum.new(1, 2), Set[1, :a]].sample(random: RNG)
  when 23 then [[3, 1, 2].each, (1..4).lazy, "ab".each_char, 1.step(10, 3), [1].each + [2]].sample(random: RNG)
  when 25, 26 then Meddler.new(RNG.rand(6))
  when 27 then Array.new(RNG.rand(1..4)) { |i| i == 1 ? Meddler.new(RNG.rand(6)) : scalar }
  when 24 then deep([1, 50, 5000].sample(random: RNG))
  when 28 then BARE.sample(random: RNG).allocate
  when 29 then [STRINGS.sample(random: RNG).dup, [scalar, scalar], {a: scalar}, Object.new, Point.new(1, 2)].sample(random: RNG).extend(Lying)
  when 30 then [Text.new("text"), List.new([1, scalar]), Table.new(5), Class.new(Set).new([1]), Class.new(Range).new(1, 3)].sample(random: RNG)
  when 31 then [STRINGS.sample(random: RNG), Array.new(2000) { |i| i }, (0..3000).to_h { |i| [i, nil] }, 7**9000, :"#{"s" * 5000}"].sample(random: RNG)
  else [Time.at(0), Random.new(1), StandardError.new("e"), "abc".match(/b/), ENV, Thread.current, 1.method(:+)].sample(random: RNG)
  end
end
