# Calls methods of core classes with random arguments and prints each answer, so that two runs can be compared: one plain,
# one with KUMI_TWIN_STRESS=1, where the Ruby twins of natives answer.
#
#   kumi twins.rb SEED [ROUNDS]
#
# A line is the call, its answer or exception, and the receiver afterwards. Each call has a generator of its own,
# made of the seed, the method and the call's number: one that answers otherwise changes no later one.
# KUMI_FUZZ_ONLY=Class#method: only that one.

require "set"
require "zlib"
SEED = Integer(ARGV[0] || 1)
ROUNDS = Integer(ARGV[1] || 3)
ONLY = ENV["KUMI_FUZZ_ONLY"]
$VERBOSE = nil
$stdout.sync = true if ENV["KUMI_FUZZ_TRACE"]
$stderr = File.open(File::NULL, "w")

# What names a place, a moment, chance or this process; what waits, prints or never ends.
SKIP = %i[
  hash object_id __id__ rand shuffle shuffle! sample display singleton_method singleton_methods methods public_methods inspect_address
  instance_variable_get instance_variable_set instance_eval instance_exec define_singleton_method extend singleton_class
  method public_method to_enum enum_for cycle step combination permutation repeated_combination repeated_permutation product
  send __send__ public_send then tap yield_self itself crypt method_missing compare_by_identity usec nsec
  to_proc curry then freeze binding source_location owner receiver
].freeze

# Ranges without an end are given to these only: others would walk them for ever, in any Ruby.
INDEXING = %i[[] []= slice slice! byteslice fill values_at clamp cover? === == eql? bytesplice between?].freeze

class Lie
  def initialize(kind) = @kind = kind
  def to_int = @kind == 0 ? 1 : 2
  def to_str = @kind == 0 ? "a" : "bc"
  def to_ary = @kind == 0 ? [1] : [2, 3]
  def to_hash = {a: @kind}
  def to_sym = :a
  def <=>(_) = @kind
  def coerce(o) = [o, 2]
  def inspect = "lie#{@kind}"
  def respond_to_missing?(*) = false
end
class Wrong
  def to_int = "x"
  def to_str = 1
  def to_ary = 2
  def to_hash = nil
  def coerce(_) = nil
  def inspect = "wrong"
  def ==(_) = raise("no ==")
end
Point = Struct.new(:x, :y)

INTS = [0, 1, -1, 2, 3, 5, -3, 7, 10, 36, 64, 65, 255, 2**31, 2**62 - 1, 2**62, -2**62 - 1, 2**64, -10**25].freeze
FLOATS = [0.0, -0.0, 0.5, -1.5, 2.0, 1e20, 1e308, Float::NAN, Float::INFINITY, -Float::INFINITY, 2.0**62].freeze
STRINGS = ["", "a", "abc", "ab", "1", "0x1f", "12.5e3", "1/3", "\xff", "a\xE3\x81", "日本語", "é\u0301", "\0", "a\0b", "a b  c", "aAbB", "%d", "%s %s", "C*", "a-c", "^a", "\n", "a\r\nb\n", "UTF-8", "xyzzy",
           "\xE3\x81".b, "a\0".dup.force_encoding("UTF-16LE"), "ab\x80".dup.force_encoding("EUC-JP")].freeze
SYMBOLS = [:a, :b, :x, :+, :each, :to_s, :half_even, :up].freeze
PATTERNS = [/a/, //, /(?<n>.)(.)?/, /[^\x00-\x7f]/, /\Ab|\z/].freeze
RECEIVERS = {
  Integer => ->(r) { INTS.sample(random: r) },
  Float => ->(r) { FLOATS.sample(random: r) },
  Rational => ->(r) { [Rational(1, 3), Rational(-7, 2), Rational(10**30, 7), 0r, 2r].sample(random: r) },
  Complex => ->(r) { [Complex(1, 2), Complex(0, 1.5), Complex(3, 0)].sample(random: r) },
  String => ->(r) { STRINGS.sample(random: r).dup },
  Symbol => ->(r) { SYMBOLS.sample(random: r) },
  Regexp => ->(r) { PATTERNS.sample(random: r) },
  MatchData => ->(_) { "xaby".match(/(?<n>a)(?<m>q)?b/) },
  Array => ->(r) { [[], [3, 1, 2], [1, "a", nil, :b, 2.5], [[1, 2], [3, 4]], %w[a b c a], (1..20).to_a, [1, 2].freeze, [0.5, 2, 1r], [[1, [2, [3]]]], [nil, false]].sample(random: r) },
  Hash => ->(r) { [{}, {a: 1, "b" => 2}, Hash.new(5).merge!(1 => 2), {1 => 2}.freeze, {[1] => 2, 1.5 => nil}, (1..12).to_h { |i| [i, -i] }].sample(random: r) },
  Range => ->(r) { [1..5, 1...1, "a".."e", 1.5..3, -3..3, (1..2r)].sample(random: r) },
  Set => ->(r) { [Set[], Set[1, "a", nil], Set[Set[1]], Set[1, 2].freeze].sample(random: r) },
  Point => ->(r) { [Point.new(1, "a"), Point.new, Point.new([1], {a: 2})].sample(random: r) },
  NilClass => ->(_) {}, TrueClass => ->(_) { true },
  Time => ->(r) { [Time.at(0).utc, Time.utc(2024, 2, 29, 1, 2, 3.5r), Time.at(-1, in: "+09:00")].sample(random: r) },
  Exception => ->(r) { [StandardError.new("x"), KeyError.new("k", receiver: {}, key: 1)].sample(random: r) },
  Encoding => ->(r) { [Encoding::UTF_8, Encoding::UTF_16LE, Encoding::BINARY].sample(random: r) }
}.freeze

def value(r, deep = true)
  case r.rand(deep ? 20 : 14)
  when 0..4 then INTS.sample(random: r)
  when 5 then FLOATS.sample(random: r)
  when 6..8 then STRINGS.sample(random: r).dup
  when 9 then SYMBOLS.sample(random: r)
  when 10 then PATTERNS.sample(random: r)
  when 11 then [nil, true, false].sample(random: r)
  when 12 then r.rand(8) - 2
  when 13 then [Rational(1, 3), Complex(1, 2), 2r].sample(random: r)
  when 14 then Array.new(r.rand(4)) { value(r, false) }
  when 15 then {a: 1, value(r, false) => 2}
  when 16 then [1..2, 0...-1, 1.0..2.5, "a".."c", *([-2.., ..1, nil..nil] if $endless)].sample(random: r)
  when 17 then Lie.new(r.rand(2))
  when 18 then [Wrong.new, Object].sample(random: r)
  else [Set[1], Point.new(1, 2), Time.at(5).utc, proc { |a| a }].sample(random: r)
  end
end

def shown(x)
  x.inspect.b.gsub(/0x\h{8,}/n, "0x")[0, 300].dump
rescue Exception => e
  "no inspect: #{e.class}"
end

def try(label, make, name, calls)
  return if ONLY && label != ONLY
  calls.times do |i|
    r = Random.new(Zlib.crc32("#{SEED} #{label} #{i}"))
    receiver = make.call(r)
    $endless = INDEXING.include?(name)
    args = Array.new([0, 0, 1, 1, 1, 2, 2, 3].sample(random: r)) { value(r) }
    # Sizes that no machine has answer alike anyway; what they cost is not asked here.
    next if args.any? { |a| Integer === a && a.abs > 300 || Float === a && a.abs > 300 } && %i[* ** << >> pow ljust rjust center fill first take cycle digits round ceil floor truncate insert []= ceildiv bit_length setbyte to_s lcm values_at fetch_values].include?(name)
    left = 60
    block = r.rand(4) == 0 ? proc { |*a| (left -= 1) < 0 ? raise("enough") : a.first } : nil
    call = "#{shown(receiver)}.#{name}(#{args.map { |a| shown(a) }.join(", ")})#{block && " {}"}"
    $stdout.puts "#{label} #{call}" if ENV["KUMI_FUZZ_TRACE"]
    answer = begin
      v = receiver.public_send(name, *args, &block)
      v.equal?(receiver) ? "self" : "#{v.class} #{shown(v)}"
    rescue SystemStackError, NoMemoryError => e
      e.class.name
    rescue SignalException, SystemExit
      raise
    rescue Exception => e
      "#{e.class}: #{shown(e.message)}"
    end
    puts "#{label} #{call} -> #{answer} | #{shown(receiver)}"
  end
end

RECEIVERS.each do |klass, make|
  (klass.public_instance_methods(false).sort - SKIP).each { |name| try("#{klass}##{name}", make, name, ROUNDS * 2) }
end
{
  Kernel => %i[Integer Float String Array Hash Rational Complex format sprintf], Math => Math.singleton_methods(false).sort, Array => %i[new try_convert []], Hash => %i[new try_convert []], String => %i[new try_convert],
  Integer => %i[sqrt try_convert], Regexp => %i[new escape union try_convert], Range => %i[new], Set => %i[new []], Time => %i[at utc], Complex => %i[rect polar], Encoding => %i[find compatible?],
  File => %i[basename dirname extname join split fnmatch exist? file? directory? zero? absolute_path?], Comparable => []
}.each { |mod, names| names.each { |name| try("#{mod}.#{name}", ->(_) { mod }, name, ROUNDS * 3) } }
