# Bytes that were damaged are refused or are another value; they crash nothing, load nothing, and take no memory of their own.
require "kumihimo/segments"

def encode(value) = Kumihimo::Segments.encode(value)
def decode(bytes, freeze = false, symbols = nil) = Kumihimo::Segments.decode(bytes, freeze:, symbols:)

Point = Struct.new(:x, :y)
Pair = Data.define(:left, :right)

seed = Integer(ENV.fetch("KUMI_TEST_SEED", "4"))
random = Random.new(seed)
good = [
  [1, -1, 2**70, 1.5, nil, true],
  { a: 1, "b" => [2, 3r], nil => Complex(1, 2) },
  [Point.new(1, Pair.new([2], "x")), Point.new, Pair.new(1, 2)],
  ["größer", "\xFF", "日本".encode("Shift_JIS"), "b".b, :sym, :"日本".to_s.encode("EUC-JP").to_sym],
  [Set[1, 2], (1..5), Time.at(0, in: "+01:00"), Time.at(1/3r).utc, Hash.new(5).merge(1 => 2), { 1 => 2 }.compare_by_identity],
  Array.new(50) { |i| Point.new(i, i.to_s) },
].map { |value| encode(value) }
Object.send(:remove_const, :Pair)
good += good.map { |bytes| encode(decode(bytes, false)) }

read = refused = 0
try = lambda do |bytes|
  value = decode(bytes, random.rand(2) == 0, 100)
  # It can be used.
  value.inspect
  value.hash
  decode(encode(value), true) == value
  read += 1
rescue Kumihimo::Segments::Malformed, Kumihimo::Segments::NotTransferable, EncodingError
  refused += 1
end

rounds = Integer(ENV.fetch("KUMI_TEST_ROUNDS", "6000"))
rounds.times do
  bytes = good[random.rand(good.size)].dup
  (1 + random.rand(4)).times do
    next if bytes.empty?
    at = random.rand(bytes.bytesize)
    case random.rand(6)
    when 0 then bytes.setbyte(at, random.rand(256))
    when 1 then bytes.setbyte(at, bytes.getbyte(at) ^ 1 << random.rand(8))
    when 2 then bytes = bytes.byteslice(0, at)
    when 3 then bytes = bytes.byteslice(0, at) + bytes.byteslice(at + 1, bytes.bytesize)
    when 4 then bytes = bytes.byteslice(0, at) + random.bytes(1 + random.rand(4)) + bytes.byteslice(at, bytes.bytesize)
    else
      other = good[random.rand(good.size)]
      bytes = bytes.byteslice(0, at) + other.byteslice(random.rand(other.bytesize), other.bytesize)
    end
  end
  try.(bytes.b)
end
rounds.times { try.(random.bytes(random.rand(40))) }
puts "seed #{seed}: nothing was read" if read.zero?
puts "seed #{seed}: nothing was refused" if refused.zero?

def refuse(bytes)
  p decode(bytes.b, false, 10)
rescue Kumihimo::Segments::Error, ArgumentError => e
  puts "#{e.class}: #{e.message}"
end
refuse ""
refuse "\xC1"
refuse "\xC0\xC0"
refuse "\xDD\xFF\xFF\xFF\xFF"
refuse "\x91" * 3_000_000
refuse "\xD4\x64\x01"
refuse "\x93\xD4\x10\x04\x01\x00"
refuse "\xC7\x05\x04\x03foo!"
refuse encode((0...11).map { |i| :"new name #{i}" }).gsub("new name", "its name")
known = (0...10).map { |i| :"another name #{i}" }
p decode(encode(known), false, 0) == known
puts "done"
