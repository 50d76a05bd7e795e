# Calls every public method of the core classes on receivers so large that the call may take long, and asks it to end.
#
#   kumi long.rb PART PARTS [FIRST]
#
# The cases are numbered; this process makes those of its part (number modulo PARTS), from number FIRST on. Each case
# prints a line before it is made and one after: "NUMBER LABEL", then "- WAY SECONDS" for each way it was
# asked to end. A call that ends by itself before it is asked is fine. What counts is the processor's time that the process used
# until the call was over, or the clock's where that is less: a loaded machine makes little difference.
# KUMI_LONG_ONLY=text: only labels that contain it. KUMI_LONG_SIZE=n: percent of the usual sizes.

require "timeout"
require "json"
require "set"
require "stringio"
require "strscan"
require "digest"
require "zlib"
require "securerandom"

PART = Integer(ARGV[0] || 0)
PARTS = Integer(ARGV[1] || 1)
FIRST = Integer(ARGV[2] || 0)
ONLY = ENV["KUMI_LONG_ONLY"]
PERCENT = Integer(ENV["KUMI_LONG_SIZE"] || 100)
PATIENCE = 0.3

class Asked < Exception; end

def big(n) = [n * PERCENT / 100, 1].max
def mb(n) = big(n * 1_000_000)

# Large things by name, made when first asked for; the last few are kept.
MAKERS = {
  same: -> { "a" * mb(100) },
  words: -> { "some Words, aB cd\n" * (mb(60) / 18) },
  wide: -> { "aé日本😀 ß" * (mb(60) / 17) },
  greek: -> { "ΣσςÀà" * (mb(40) / 10) },
  broken: -> { "\xffé\xE3\x81" * (mb(30) / 5) },
  bytes: -> { Random.new(1).bytes(mb(60)) },
  nuls: -> { "\0".b * mb(60) },
  utf16: -> { ("aé日😀".encode("UTF-16LE")) * (mb(40) / 10) },
  utf32: -> { ("aé日😀".encode("UTF-32BE")) * (mb(40) / 16) },
  sjis: -> { ("aあ漢ｱ".encode("Shift_JIS")) * (mb(40) / 6) },
  euc: -> { ("aあ漢".encode("EUC-JP")) * (mb(40) / 5) },
  digits: -> { "9" * mb(50) },
  zs: -> { "z" * mb(80) },
  marks: -> { "e\u0301a\u0308o\u0302" * (mb(30) / 9) },
  quoted: -> { "\"\\\#{\e\u200b\x7f" * (mb(30) / 9) },
  all_chars: -> { (0x80..(0x80 + big(500_000))).reject { |c| (0xd800..0xdfff).cover?(c) }.pack("U*") },
  all_ranges: -> { (0x80..(0x80 + big(400_000))).step(2).reject { |c| (0xd7fe..0xdfff).cover?(c) }.map { |c| [c, 45, c + 1].pack("U*") }.join },
  ints: -> { Array.new(big(10_000_000)) { |i| i * 7919 % 1_000_003 } },
  distinct: -> { Array.new(big(4_000_000)) { |i| i } },
  floats: -> { Array.new(big(4_000_000)) { |i| i * 0.5 } },
  nils: -> { [nil] * big(20_000_000) },
  strings: -> { Array.new(big(2_000_000)) { |i| "s#{i}" } },
  symbols: -> { %i[a b c d] * big(1_000_000) },
  pairs: -> { Array.new(big(1_500_000)) { |i| [i, -i] } },
  lists: -> { Array.new(3000) { Array.new(big(1000)) { |i| i } } },
  few: -> { (1..40).to_a },
  mixed: -> { Array.new(big(2_000_000)) { |i| [i, i.to_s, nil, i * 0.5, :a][i % 5] } },
  nested: -> { a = [1, "b", 2.5]; big(21).times { a = [a, a] }; a },
  deep: -> { a = [1]; 2000.times { |i| a = [a, i] }; a },
  bignums: -> { Array.new(big(1_000_000)) { |i| 2**70 + i } },
  ints_hash: -> { h = {}; big(2_000_000).times { |i| h[i] = i }; h },
  strings_hash: -> { h = {}; big(1_000_000).times { |i| h["k#{i}"] = i }; h },
  lists_hash: -> { h = {}; big(700_000).times { |i| h[[i]] = [i] }; h },
  other_hash: -> { h = {}; big(2_000_000).times { |i| h[-i] = i }; h },
  set: -> { Set.new(MAKE[:distinct]) },
  other_set: -> { Set.new(MAKE[:distinct].map { |i| i * 2 }) },
  huge: -> { (1 << big(120_000_000)) / 3 },
  huger: -> { (1 << big(400_000_000)) - 1 },
  bigger: -> { (1 << big(3_000_000)) / 3 },
  power_of_ten: -> { 10**big(2_000_000) },
  json: -> { JSON.generate(MAKE[:strings_hash]) },
  marshal: -> { Marshal.dump(MAKE[:strings]) },
  marshal_ints: -> { Marshal.dump(MAKE[:ints]) },
  base64: -> { [MAKE[:bytes]].pack("m0") },
  hex: -> { MAKE[:bytes].unpack1("H*") },
  deflated: -> { Zlib.deflate(MAKE[:nuls]) },
  lines_array: -> { MAKE[:words].lines },
  symbol: -> { ("é" * mb(5)).to_sym },
  format: -> { "%d %s " * big(2_000_000) },
  strftime: -> { "%Y-%m-%d %H:%M:%S.%N " * big(1_000_000) },
  stringio: -> { StringIO.new(MAKE[:words].dup) },
  scanner: -> { StringScanner.new(MAKE[:words]) },
  regexp: -> { Regexp.new("(?:ab|c[d-f]+|\\w)" * big(200_000)) },
  match: -> { /(.*)(.)(?<n>x)?/m.match(MAKE[:wide]) },
  match_many: -> { Regexp.new("(.)" * big(30_000)).match(MAKE[:wide]) },
  rational: -> { Rational(MAKE[:bigger], MAKE[:power_of_ten] + 1) },
  complex: -> { Complex(MAKE[:bigger], MAKE[:bigger] + 1) },
  numbers: -> { 1..big(1_000_000_000) },
  letters: -> { "a".."zzzzzzz" },
  halves: -> { (0.0..1e12).step(0.5) },
  strided: -> { 1.step(10**12, 3) },
  pattern_list: -> { Array.new(big(300_000)) { |i| "w#{i}" } },
  record: -> { Struct.new(*(1..big(5000)).map { |i| :"f#{i}" }).new(*(1..big(5000))) },
  time: -> { Time.at(0).utc }
}.freeze
MAKE = Hash.new do |h, k|
  h.delete(h.keys.first) if h.size > 6
  h[k] = MAKERS.fetch(k).call
end

STRINGS = %i[same words wide greek broken bytes nuls utf16 utf32 sjis euc digits zs marks quoted].freeze
ARRAYS = %i[ints distinct floats nils strings symbols pairs lists few mixed nested deep bignums].freeze
HASHES = %i[ints_hash strings_hash lists_hash].freeze

# Receivers by class.
RECEIVERS = {
  String => STRINGS, Array => ARRAYS, Hash => HASHES, Set => %i[set], Integer => %i[huge huger bigger],
  Rational => %i[rational], Complex => %i[complex], Range => %i[numbers letters], Symbol => %i[symbol],
  Regexp => %i[regexp], MatchData => %i[match match_many], StringIO => %i[stringio], StringScanner => %i[scanner],
  Enumerator::ArithmeticSequence => %i[strided halves], Struct => %i[record]
}.freeze

# Arguments by class; each a list of values or names of large things.
SMALL = [[], [2], [-1], ["a"], [nil], [0, 5]].freeze
ARGUMENTS = {
  String => SMALL + [[1_000_000_000], ["b", "c"], ["a", ""], ["é", "日"], ["a-zé-日", "x"], ["^a", "b"], [/é|b/], [/[a-m]+/, "xy"], [/./m], [" "], [""], [100_000_000, "é"],
                     [:same], [:wide], [:utf16], [:broken], [:all_chars], [:all_ranges], [:all_chars, "x"], [:all_ranges, :all_ranges], [:zs, :same], ["UTF-16LE"], ["Shift_JIS"], ["UTF-8"],
                     ["UTF-8", "ISO-8859-1"], [:sym__nfd], [:sym__nfkc], ["C*"], ["U*"], ["m"], ["H*"], ["b*"], ["a1" * 1000], ["w*"], ["n*"], ["M"], ["u"], [0..-1], [5..10, "é"], [1, 100, "é"]],
  Array => SMALL + [[3, 1], ["c*"], ["U*"], ["w*"], ["m"], [", "], [100_000_000], [10**7, 0], [:ints], [:distinct], [:strings], [:pairs], [:lists], [:mixed], [:nested], [:floats], [:same], [20], [0..-1], [0, 10**7]],
  Hash => SMALL + [[:ints_hash], [:strings_hash], [:other_hash], [:ints]],
  Set => SMALL + [[:set], [:other_set], [:distinct]],
  Integer => SMALL + [[10], [36], [1_000_003], [:huge], [:bigger], [:power_of_ten], [3, 10**40], [:bigger, :power_of_ten], [100_000_000], [-5_000_000], [0.5], [-1_000_000], [3r]],
  Rational => SMALL + [[:bigger], [:rational], [1_000_000], [0.5]],
  Complex => SMALL + [[:bigger], [:complex], [1000]],
  Range => SMALL + [[3, 1], [:numbers], [999_999_999], [10**9, 5], [1.5]],
  Regexp => [[], [:words], [:wide], [:zs]],
  StringIO => SMALL + [[100_000_000], [:words], ["\n\n"], ["zzz", 100_000_000]],
  StringScanner => [[], [/[^é]+/m], [/zzz/], ["zz"], [/(.)+/m]],
  Struct => SMALL
}.freeze

# Functions, constructors and the library: label and text to run.
CALLS = {
  "Kernel.Integer" => -> { Integer(MAKE[:digits]) }, "Kernel.Float" => -> { Float(MAKE[:digits]) }, "Kernel.Rational" => -> { Rational(MAKE[:digits]) },
  "Kernel.Rational parts" => -> { Rational(MAKE[:bigger], MAKE[:power_of_ten]) }, "Kernel.Complex" => -> { Complex(MAKE[:digits]) },
  "format width" => -> { format("%900000000d", 1) }, "format float" => -> { format("%.100000000f", 1.5) }, "format rational" => -> { format("%.3000000f", Rational(1, 3)) },
  "format huge" => -> { format("%d", MAKE[:huge]) }, "format hex" => -> { format("%x", -MAKE[:huge]) }, "format binary" => -> { format("%b", MAKE[:huge]) }, "format e" => -> { format("%.1000000e", MAKE[:bigger]) },
  "format many" => -> { format(MAKE[:format], *([1, "é"] * big(2_000_000))) }, "format text" => -> { format("%-200000000s", MAKE[:wide]) },
  "strftime" => -> { MAKE[:time].strftime(MAKE[:strftime]) }, "strftime width" => -> { MAKE[:time].strftime("%900000000Y") },
  "Marshal.dump strings" => -> { Marshal.dump(MAKE[:strings]) }, "Marshal.dump ints" => -> { Marshal.dump(MAKE[:ints]) }, "Marshal.dump floats" => -> { Marshal.dump(MAKE[:floats]) }, "Marshal.dump hash" => -> { Marshal.dump(MAKE[:strings_hash]) },
  "Marshal.dump nested" => -> { Marshal.dump(MAKE[:pairs]) }, "Marshal.dump huge" => -> { Marshal.dump(MAKE[:huger]) }, "Marshal.load" => -> { Marshal.load(MAKE[:marshal]) }, "Marshal.load ints" => -> { Marshal.load(MAKE[:marshal_ints]) },
  "JSON.generate strings" => -> { JSON.generate(MAKE[:strings]) }, "JSON.generate ints" => -> { JSON.generate(MAKE[:ints]) }, "JSON.generate floats" => -> { JSON.generate(MAKE[:floats]) }, "JSON.generate text" => -> { JSON.generate(MAKE[:wide]) },
  "JSON.generate quoted" => -> { JSON.generate(MAKE[:quoted].scrub) }, "JSON.generate hash" => -> { JSON.generate(MAKE[:strings_hash]) }, "JSON.pretty_generate" => -> { JSON.pretty_generate(MAKE[:pairs]) },
  "JSON.parse" => -> { JSON.parse(MAKE[:json]) }, "JSON.parse text" => -> { JSON.parse(MAKE[:wide].inspect) }, "JSON.parse ints" => -> { JSON.parse("[" + ("1234," * big(5_000_000)) + "1]") }, "JSON.parse digits" => -> { JSON.parse("[" + MAKE[:digits] + "]") },
  "Regexp.escape" => -> { Regexp.escape(MAKE[:words]) }, "Regexp.escape wide" => -> { Regexp.escape(MAKE[:wide]) }, "Regexp.union" => -> { Regexp.union(*MAKE[:pattern_list]) }, "Regexp.new" => -> { Regexp.new(MAKE[:zs]) }, "Regexp.new groups" => -> { Regexp.new("(a|b)" * big(1_000_000)) },
  "Regexp.new class" => -> { Regexp.new("[" + MAKE[:all_chars] + "]") }, "Regexp.linear_time?" => -> { Regexp.linear_time?("(a|b)*" * big(500_000)) },
  "Random.bytes" => -> { Random.bytes(mb(1000)) }, "Random#bytes" => -> { Random.new(1).bytes(mb(1000)) }, "Random.urandom" => -> { Random.urandom(mb(1000)) }, "Random.rand" => -> { Random.new(1).rand(MAKE[:huger]) }, "Random.new" => -> { Random.new(MAKE[:huger]) },
  "SecureRandom.hex" => -> { SecureRandom.hex(mb(200)) },
  "Array.new" => -> { Array.new(big(100_000_000), 1) }, "Array()" => -> { Array(MAKE[:numbers]) }, "Hash[]" => -> { Hash[MAKE[:pairs]] }, "Hash.[] flat" => -> { Hash[*MAKE[:distinct]] }, "Set.new" => -> { Set.new(MAKE[:strings]) },
  "Integer.sqrt" => -> { Integer.sqrt(MAKE[:huge]) }, "Math.log" => -> { Math.log(MAKE[:huger]) }, "Math.sqrt" => -> { Math.sqrt(MAKE[:huge]) }, "Array.pack strings" => -> { MAKE[:strings].pack("a10" * MAKE[:strings].size) },
  "pack U" => -> { MAKE[:ints].pack("U*") }, "pack w" => -> { MAKE[:ints].pack("w*") }, "pack w huge" => -> { [MAKE[:bigger]].pack("w") }, "pack m" => -> { [MAKE[:bytes]].pack("m") }, "pack M" => -> { [MAKE[:bytes]].pack("M") }, "pack u" => -> { [MAKE[:bytes]].pack("u") }, "pack H" => -> { [MAKE[:hex]].pack("H*") },
  "pack b" => -> { [MAKE[:zs]].pack("b*") }, "pack d" => -> { MAKE[:floats].pack("d*") }, "pack x" => -> { [].pack("x900000000") }, "pack template" => -> { MAKE[:ints].pack("Cn" * (MAKE[:ints].size / 2)) },
  "unpack m" => -> { MAKE[:base64].unpack("m") }, "unpack m0" => -> { MAKE[:base64].unpack1("m0") }, "unpack w" => -> { MAKE[:nuls].unpack("w*") }, "unpack a1" => -> { MAKE[:bytes].unpack("a1" * big(5_000_000)) }, "unpack Z" => -> { MAKE[:bytes].unpack("Z*" * big(1_000_000)) }, "unpack b" => -> { MAKE[:bytes].unpack1("b*") },
  "Digest::SHA256" => -> { Digest::SHA256.hexdigest(MAKE[:same]) }, "Digest::MD5" => -> { Digest::MD5.digest(MAKE[:same] * 3) }, "Digest::RMD160" => -> { Digest::RMD160.hexdigest(MAKE[:same]) }, "Digest::SHA512" => -> { Digest::SHA512.hexdigest(MAKE[:same] * 3) }, "Zlib.crc32" => -> { Zlib.crc32(MAKE[:same] * 5) }, "Zlib.adler32" => -> { Zlib.adler32(MAKE[:same] * 5) },
  "Zlib.deflate" => -> { Zlib.deflate(MAKE[:bytes]) }, "Zlib.inflate" => -> { Zlib.inflate(MAKE[:deflated]) }, "Zlib.gzip" => -> { Zlib.gzip(MAKE[:words]) },
  "crypt" => -> { "x".crypt("$6$rounds=900000$abcdefgh") }, "crypt des" => -> { 100_000.times { "x".crypt("ab") } },
  "inspect range" => -> { MAKE[:numbers].to_a.inspect }, "String.new" => -> { String.new(capacity: 10**9) }, "hash of nested" => -> { MAKE[:nested].hash }, "== of nested" => -> { Marshal.load(Marshal.dump(MAKE[:lists])) == MAKE[:lists] }, "<=> of lists" => -> { MAKE[:lists] <=> MAKE[:lists].map(&:dup) },
  "String ==" => -> { MAKE[:same] == MAKE[:same].dup }, "casecmp" => -> { MAKE[:words].casecmp(MAKE[:words].upcase) }, "casecmp? wide" => -> { MAKE[:greek].casecmp?(MAKE[:greek].dup) }, "unicode_normalize" => -> { MAKE[:marks].unicode_normalize(:nfc) }, "unicode_normalized?" => -> { MAKE[:marks].unicode_normalized?(:nfc) },
  "encode xml" => -> { MAKE[:quoted].scrub.encode(xml: :attr) }, "encode crlf" => -> { MAKE[:words].encode(crlf_newline: true) }, "encode fallback" => -> { MAKE[:wide].encode("US-ASCII", undef: :replace) }, "encode invalid" => -> { MAKE[:broken].encode("UTF-16BE", invalid: :replace) }, "encode iso2022" => -> { MAKE[:euc].encode("ISO-2022-JP") }, "Converter" => -> { Encoding::Converter.new("UTF-8", "EUC-JP").convert(MAKE[:euc].encode("UTF-8")) },
  "upcase turkic" => -> { MAKE[:wide].upcase(:turkic) }, "downcase fold" => -> { MAKE[:greek].downcase(:fold) }, "tr wide" => -> { MAKE[:wide].tr("a-zé", "日-語") }, "succ bytes" => -> { ("\xff" * mb(60)).b.succ }, "upto" => -> { "a".upto("z" * 50).count }, "each_grapheme_cluster" => -> { MAKE[:marks].each_grapheme_cluster.count }, "grapheme_clusters" => -> { MAKE[:marks].grapheme_clusters },
  "Array#product" => -> { MAKE[:lists][0].product(MAKE[:lists][0], MAKE[:lists][0]) }, "combination" => -> { MAKE[:few].combination(20).to_a }, "permutation" => -> { MAKE[:few].permutation(20).to_a }, "repeated_combination" => -> { MAKE[:few].repeated_combination(20).to_a }, "combination count" => -> { MAKE[:few].combination(20).count },
  "big combination size" => -> { MAKE[:ints].combination(5_000_000).size }, "permutation size" => -> { MAKE[:ints].permutation(5_000_000).size },
  "transpose" => -> { MAKE[:pairs].transpose }, "zip" => -> { MAKE[:ints].zip(MAKE[:ints], MAKE[:ints]) }, "flatten" => -> { MAKE[:nested].flatten }, "dig" => -> { MAKE[:nested].dig(*([0] * 20)) }, "sum floats" => -> { MAKE[:floats].sum }, "sum bignums" => -> { MAKE[:bignums].sum }, "sum strings" => -> { MAKE[:strings].sum("") }, "join" => -> { MAKE[:mixed].join(",") }, "join nested" => -> { MAKE[:nested].join("-") }, "sort mixed lists" => -> { MAKE[:pairs].sort { |a, b| b <=> a } }, "sort pairs" => -> { MAKE[:pairs].shuffle.sort }, "pack C" => -> { MAKE[:ints].pack("C*") },
  "tally" => -> { MAKE[:strings].tally }, "group_by" => -> { MAKE[:strings].group_by(&:size) }, "to_h" => -> { MAKE[:pairs].to_h }, "Range#sum" => -> { MAKE[:numbers].sum }, "Range#sum floats" => -> { MAKE[:numbers].sum(0.5) }, "Range#to_a letters" => -> { MAKE[:letters].to_a }, "Range#include? letters" => -> { MAKE[:letters].include?("zzzzzz1") }, "Range ===" => -> { ("a".."zzzzzzz") === "bbbbbb!" }, "Range#max step" => -> { MAKE[:numbers].step(7).max }, "Range#minmax" => -> { MAKE[:letters].minmax }, "Range#count" => -> { MAKE[:letters].count }, "Range#each_slice" => -> { MAKE[:numbers].each_slice(3).count }, "Range#inject" => -> { MAKE[:numbers].inject(:+) }, "inject *" => -> { (1..big(300_000)).inject(:*) }, "pow" => -> { MAKE[:bigger].pow(MAKE[:bigger], MAKE[:bigger] + 2) }, "pow small" => -> { 3.pow(MAKE[:bigger], MAKE[:bigger] + 2) }, "digits" => -> { MAKE[:bigger].digits }, "digits 2" => -> { MAKE[:huge].digits(2) }, "digits big base" => -> { MAKE[:huge].digits(10**30) }, "ceil" => -> { MAKE[:huge].ceil(-1_000_000) }, "round" => -> { MAKE[:huge].round(-10_000_000, half: :even) }, "floor" => -> { 12345.floor(-10_000_000) }, "shift" => -> { 1 << 8_000_000_000 }, "shift right" => -> { MAKE[:huger] >> 3 }, "** float" => -> { MAKE[:huge]**0.5 }, "** rational" => -> { Rational(3, 7)**1_000_000 }, "Rational +" => -> { MAKE[:rational] + Rational(1, 7**300_000) }, "to_r" => -> { ("1." + MAKE[:digits]).to_r }, "to_c" => -> { MAKE[:digits].to_c }, "to_f" => -> { MAKE[:digits].to_f }, "rationalize" => -> { MAKE[:rational].rationalize }, "gcd" => -> { MAKE[:huge].gcd(MAKE[:bigger]) }, "lcm" => -> { MAKE[:bigger].lcm(MAKE[:power_of_ten]) }, "bit_length" => -> { MAKE[:huger].bit_length }, "ceildiv" => -> { MAKE[:huge].ceildiv(MAKE[:bigger]) }, "fdiv" => -> { MAKE[:huge].fdiv(MAKE[:bigger]) },
  "File.fnmatch" => -> { File.fnmatch("*a" * 25 + "b", "a" * 100_000) }, "File.fnmatch braces" => -> { File.fnmatch("{a,b}" * 40, "ab" * 20, File::FNM_EXTGLOB) }, "File.join" => -> { File.join(MAKE[:strings]) }, "File.basename" => -> { File.basename(MAKE[:same] + "/b") }, "File.expand_path" => -> { File.expand_path("a/../" * big(3_000_000)) }, "File.extname" => -> { File.extname("." * mb(50)) }, "File.dirname" => -> { File.dirname("a/" * big(20_000_000), big(10_000_000)) }, "Dir.glob" => -> { Dir.glob("{a,b}" * 40) },
  "StringIO lines" => -> { StringIO.new(MAKE[:words]).readlines }, "StringIO gets" => -> { StringIO.new(MAKE[:same]).gets("zz") }, "StringIO ungetc" => -> { StringIO.new(MAKE[:words]).tap { |s| s.ungetbyte(MAKE[:words]) }.size }, "IO.readlines" => -> { IO.pipe { |r, w| t = Thread.new { w.write(MAKE[:words]); w.close }; r.readlines.size.tap { t.join } } }, "read zero" => -> { File.open("/dev/zero") { |f| f.read(mb(1000)) } }, "write null" => -> { File.write("/dev/null", MAKE[:same]) }, "inspect wide" => -> { MAKE[:wide].inspect }, "dump" => -> { MAKE[:wide].dump }, "undump" => -> { MAKE[:wide].dump.undump }, "p" => -> { MAKE[:mixed].inspect }, "inspect hash" => -> { MAKE[:strings_hash].inspect }, "to_s hash" => -> { MAKE[:lists_hash].to_s }, "Hash ==" => -> { MAKE[:strings_hash] == MAKE[:strings_hash].to_a.to_h }, "Hash#merge" => -> { MAKE[:ints_hash].merge(MAKE[:other_hash], MAKE[:strings_hash]) }, "Hash#rehash" => -> { MAKE[:lists_hash].dup.rehash }, "Hash#invert" => -> { MAKE[:strings_hash].invert }, "Hash#sort" => -> { MAKE[:strings_hash].sort }, "Hash#transform_keys" => -> { MAKE[:strings_hash].transform_keys(&:to_sym) }, "Set |" => -> { MAKE[:set] | MAKE[:other_set] }, "Set ^" => -> { MAKE[:set] ^ MAKE[:other_set] }, "Set ==" => -> { MAKE[:set] == MAKE[:set].dup.add(-1).delete(-1) }, "Set <=" => -> { MAKE[:set] <= MAKE[:other_set] }, "Set#hash" => -> { MAKE[:set].hash }, "Set#inspect" => -> { MAKE[:set].inspect }, "Comparable#clamp" => -> { MAKE[:same].clamp(MAKE[:same].dup, MAKE[:zs]) }, "between?" => -> { MAKE[:lists].dup.between?(MAKE[:lists], MAKE[:lists]) }, "Array#hash lists" => -> { MAKE[:lists].hash }, "Array#- strings" => -> { MAKE[:strings] - MAKE[:strings].map(&:dup) }, "Array#& pairs" => -> { MAKE[:pairs] & MAKE[:pairs] }, "Array#| pairs" => -> { MAKE[:pairs] | MAKE[:pairs] }, "Array#uniq pairs" => -> { MAKE[:pairs].uniq }, "Array#difference" => -> { MAKE[:ints].difference(MAKE[:distinct], MAKE[:floats]) }, "Array#intersect?" => -> { MAKE[:distinct].intersect?(MAKE[:floats].map { |f| f + 0.25 }) }, "Array#assoc" => -> { MAKE[:pairs].assoc(-1) }, "Array#rassoc" => -> { MAKE[:pairs].rassoc(1) }, "Array#include? lists" => -> { MAKE[:pairs].include?([1, 1]) }, "Array#delete lists" => -> { MAKE[:pairs].dup.delete([1, 1]) }, "Array#index text" => -> { MAKE[:strings].index("none") }, "Array#insert" => -> { MAKE[:ints].dup.insert(5, *MAKE[:ints]) }, "Array#cycle" => -> { MAKE[:few].cycle(10**7).count }, "Array#each_slice" => -> { MAKE[:ints].each_slice(2).to_a }, "Array#each_cons" => -> { MAKE[:ints].each_cons(3).to_a }, "Array#bsearch" => -> { MAKE[:ints].bsearch { false } }, "Array#fill" => -> { MAKE[:ints].dup.fill(1) }, "Array#rotate" => -> { MAKE[:ints].rotate(7) }, "Array#sample" => -> { MAKE[:ints].sample(5_000_000) }, "Array#shuffle" => -> { MAKE[:ints].shuffle }, "Array#max n" => -> { MAKE[:ints].max(1_000_000) }, "Array#minmax strings" => -> { MAKE[:strings].minmax }, "Array#values_at" => -> { MAKE[:ints].values_at(*(0...big(5_000_000))) }, "Array#flatten!" => -> { MAKE[:lists].map(&:dup).flatten! }, "Array#to_s deep" => -> { MAKE[:deep].to_s }, "Array#compact" => -> { MAKE[:nils].compact }, "Array#count" => -> { MAKE[:strings].count("x") },
  "eval sum" => -> { eval("x = 1\nx" + " + 1" * big(1_000_000)) }, "eval text" => -> { eval("'" + MAKE[:same] + "'") }, "eval array" => -> { eval("[" + "1," * big(10_000_000) + "]") }, "eval lines" => -> { eval("x = 1\n" * big(5_000_000)) }, "eval comment" => -> { eval("# é\n" * big(15_000_000)) }, "eval hex" => -> { eval("0x" + "f" * big(20_000_000)) }, "eval decimal" => -> { eval("9" * big(20_000_000)) }, "eval methods" => -> { eval("def m = 1\n" * big(2_000_000)) }, "eval wrong" => -> { eval("(" * big(2_000_000)) }, "eval junk" => -> { eval(") " * big(3_000_000)) }, "eval hash" => -> { eval("{" + "a: 1," * big(3_000_000) + "}") }, "eval locals" => -> { eval((0...big(600_000)).map { |i| "a#{i} = 1\n" }.join) }, "eval captured" => -> { n = big(300_000); eval((0...n).map { |i| "a#{i} = 1\n" }.join + "proc { " + (0...n).map { |i| "a#{i};" }.join + "}") }, "eval strings" => -> { eval("x = ['a','b']\n" * big(2_000_000)) }, "instance_eval" => -> { Object.new.instance_eval("@a = 1\n" * big(4_000_000)) }, "eval symbols" => -> { eval((0...big(1_000_000)).map { |i| ":s#{i}\n" }.join) }, "eval regexps" => -> { eval("/a(b|c)*é/\n" * big(1_000_000)) }, "eval heredoc" => -> { eval("<<A\n" + "text \#{1}\n" * big(3_000_000) + "A\n") }, "RubyVM::InstructionSequence" => -> { defined?(RubyVM::InstructionSequence.compile) && RubyVM::InstructionSequence.compile("x = 1\n" * big(4_000_000)) },
  "hostile 1" => -> { /(x+x+)+\1[yz]/ =~ "x" * 60 }, "hostile 2" => -> { /^(?=(a+)+b)\1/ =~ "a" * 40 }, "hostile 3" => -> { /((a?){30})a{30}\2c/ =~ "a" * 30 }, "hostile 4" => -> { /(?<a>x\g<a>?x?)+$/ =~ "x" * 50 + "y" }, "hostile quadratic" => -> { /a.*b\d/ =~ "a" * big(2_000_000) }, "hostile lookbehind" => -> { /(?<=a|bb)c(.*)*\1d/ =~ "ac" * 1000 }
}.freeze

# What waits, ends the process, prints, changes the process or takes no time.
SKIP = %i[
  instance_eval instance_exec send __send__ public_send display method methods singleton_methods public_method singleton_method extend freeze frozen? itself then yield_self tap object_id __id__ class
  instance_variable_set instance_variable_get remove_instance_variable instance_variables instance_variable_defined? define_singleton_method to_enum enum_for is_a? kind_of? instance_of? nil? respond_to? singleton_class
  private_methods protected_methods public_methods equal? ! !~ cycle reopen
].freeze
# Of what everything has, these are looked at.
COMMON = %i[inspect to_s hash == != === =~ !~ <=> eql? dup clone].freeze
SMALL_ONES = {String => "ab", Array => [1, 2], Hash => {a: 1}, Set => Set[1], Integer => 3, Rational => 3r, Complex => 3i, Range => 1..2, Symbol => :ab, Regexp => /a/, MatchData => /a/.match("a"),
              StringIO => StringIO.new("a"), StringScanner => StringScanner.new("a"), Enumerator::ArithmeticSequence => 1.step(3, 1), Struct => Struct.new(:a).new(1)}.freeze

# Does the method take so many arguments?
def takes?(klass, method, count)
  SMALL_ONES[klass].dup.public_send(method, *([nil] * count))
  true
rescue ArgumentError => e
  !e.message.include?("wrong number")
rescue Exception
  true
end

def one_case(klass, method, name, list, block = nil)
  shown = list.map { |a| Symbol === a ? a.to_s : a.inspect[0, 20] }.join(", ")
  ["#{klass}##{method} of #{name} (#{shown})#{" {}" if block}", lambda {
    args = list.map { |a| Symbol === a ? (a.start_with?("sym__") ? a.to_s[5..].to_sym : MAKE[a]) : a }
    target = MAKE[name]
    target = target.dup unless Integer === target || Symbol === target || MatchData === target
    -> { target.public_send(method, *args, &block) }
  }]
end

# Every method without arguments on every receiver, with each list of arguments on one of them, and with a block on one.
def cases
  return enum_for(:cases) unless block_given?
  turn = 0
  RECEIVERS.each do |klass, names|
    methods = klass.public_instance_methods - SKIP
    methods.reject! { |m| [Kernel, BasicObject, Object].include?(klass.instance_method(m).owner) && !COMMON.include?(m) }
    methods.sort.each do |m|
      known = Hash.new { |h, n| h[n] = takes?(klass, m, n) }
      lists = (ARGUMENTS[klass] || SMALL).select { |l| known[l.size] }
      lists.each do |list|
        (list.empty? ? names : [names[(turn += 1) % names.size]]).each { |name| yield(*one_case(klass, m, name, list)) }
      end
      yield(*one_case(klass, m, names[(turn += 1) % names.size], [], proc { |*| false })) if known[0]
    end
  end
  CALLS.each { |label, call| yield label, -> { call } }
end

def processor_time = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

def by_time_limit(call)
  t = processor_time
  w = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  begin
    Timeout.timeout(PATIENCE, Asked) { call.call }
  rescue Asked
    asked = true
  rescue StandardError, NotImplementedError, NoMemoryError, SystemStackError, SyntaxError
    nil
  end
  [processor_time - t, Process.clock_gettime(Process::CLOCK_MONOTONIC) - w, asked]
end

# An outer process sends a signal a while after it is asked to.
def by_signal(call)
  t = processor_time
  w = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  pid = nil
  begin
    trap("USR1") { raise Asked }
    pid = spawn("sleep #{PATIENCE}; kill -USR1 #{$$}")
    call.call
    sleep 5
  rescue Asked
    nil
  rescue StandardError, NotImplementedError, NoMemoryError, SystemStackError, SyntaxError
    begin
      sleep 5
    rescue Asked
      nil
    end
  end
  t = processor_time - t
  w = Process.clock_gettime(Process::CLOCK_MONOTONIC) - w
  trap("USR1", "IGNORE")
  Process.wait(pid)
  [t, w, true]
end

def by_kill(call)
  t = processor_time
  w = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  thread = Thread.new do
    call.call
  rescue StandardError, NotImplementedError, NoMemoryError, SystemStackError, SyntaxError
    nil
  end
  sleep PATIENCE
  thread.kill
  thread.join
  [processor_time - t, Process.clock_gettime(Process::CLOCK_MONOTONIC) - w, true]
end

$stdout.sync = true
$stderr = File.open(File::NULL, "w")
trap("USR1", "IGNORE")
number = -1
cases.each do |label, prepare|
  number += 1
  next if number < FIRST || number % PARTS != PART || ONLY && !label.include?(ONLY)
  $stdout.puts "#{number} #{label}"
  begin
    call = prepare.call
  rescue StandardError, NotImplementedError, NoMemoryError => e
    $stdout.puts "- unprepared #{e.class}"
    next
  end
  spent, took, asked = by_time_limit(call)
  $stdout.puts "- limit #{[spent, took].min.round(2)}"
  next unless asked || spent > PATIENCE
  begin
    %w[signal kill].each do |way|
      call = nil
      call = prepare.call
      spent, took, = way == "kill" ? by_kill(call) : by_signal(call)
      $stdout.puts "- #{way} #{[spent, took].min.round(2)}"
    end
  rescue NoMemoryError => e
    $stdout.puts "- unprepared #{e.class}"
  end
end
puts "done"
