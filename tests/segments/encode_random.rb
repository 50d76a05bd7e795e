# 2,000 values made by a seeded generator come back equal, plain and frozen.
require "kumihimo/segments"

def encode(value) = Kumihimo::Segments.encode(value)
def decode(bytes, freeze = false, symbols = nil) = Kumihimo::Segments.decode(bytes, freeze:, symbols:)

Point = Struct.new(:x, :y)
Named = Struct.new(:id, :name, keyword_init: true)
Pair = Data.define(:left, :right)

SEED = Integer(ENV.fetch("KUMI_TEST_SEED", "17"))
RANDOM = Random.new(SEED)

def pick(*all) = all[RANDOM.rand(all.size)]

def text
  n = RANDOM.rand(40)
  case RANDOM.rand(6)
  when 0 then RANDOM.bytes(n)
  when 1 then RANDOM.bytes(n).force_encoding("UTF-8")
  when 2 then Array.new(n) { pick("ä", "漢", "😀", "x") }.join
  when 3 then Array.new(n) { pick("あ", "x") }.join.encode(pick("Shift_JIS", "EUC-JP", "UTF-16LE", "UTF-32BE"))
  else Array.new(n) { (97 + RANDOM.rand(26)).chr }.join.force_encoding("UTF-8")
  end
end

def integer = pick(1, -1) * RANDOM.rand(2**RANDOM.rand(1..200))

def key(depth)
  case RANDOM.rand(5)
  when 0 then text
  when 1 then integer
  when 2 then any(depth)
  else :"k#{RANDOM.rand(20)}"
  end
end

def any(depth)
  n = RANDOM.rand(6)
  case RANDOM.rand(depth > 0 ? 24 : 12)
  when 0 then pick(nil, true, false)
  when 1, 2 then integer
  when 3 then [RANDOM.bytes(8).unpack1("d"), 0.0, -0.0, 1.5].then { |all| pick(*all.reject(&:nan?)) }
  when 4, 5 then text
  when 6 then :"s#{RANDOM.rand(50)}"
  when 7 then Rational(integer, 1 + RANDOM.rand(1000))
  when 8 then Complex(integer, pick(1.5, 2, 1r / 3))
  when 9 then Time.at(RANDOM.rand(-2**40..2**40), RANDOM.rand(10**9), :nsec, in: pick("UTC", "+01:00", "-11:30"))
  when 10 then Range.new(integer, pick(nil, integer), pick(true, false))
  when 11 then Time.at(Rational(integer % 2**60, 7)).utc
  when 12, 13, 14 then Array.new(n) { any(depth - 1) }
  when 15, 16, 17
    hash = pick({}, Hash.new(any(depth - 1)), {})
    n.times { hash[key(depth - 1)] = any(depth - 1) }
    hash
  when 18 then Set.new(Array.new(n) { any(depth - 1) })
  when 19 then Point.new(any(depth - 1), any(depth - 1))
  when 20 then Named.new(id: any(depth - 1), name: text)
  when 21, 22 then Pair.new(any(depth - 1), any(depth - 1))
  else Array.new(RANDOM.rand(100)) { RANDOM.rand(1000) }
  end
end

count = Integer(ENV.fetch("KUMI_TEST_COUNT", "2000"))
bytes = 0
count.times do |i|
  value = any(1 + i % 6)
  sent = encode(value)
  bytes += sent.bytesize
  back = decode(sent, i.odd?)
  unless value == back && value.class == back.class && encode(back) == sent
    puts "seed #{SEED}, value #{i}: #{value.inspect} came back as #{back.inspect}"
  end
  puts "seed #{SEED}, value #{i}: not frozen deeply" if i.odd? && !Ractor.shareable?(back)
end
puts "done" if bytes > count
