# What takes long in a native goes on while others allocate, collect and change what they share.
require "json"
require "digest"
require "zlib"

# Under collector stress short work is given away too.
BIG = ENV["KUMI_GC_STRESS"] || ENV["KUMI_TLH_STRESS"] ? 100 : 3_000
WORDS = BIG < 3_000 ? 200 : 10_000

stop = false
noise = 2.times.map do |n|
  Thread.new do
    i = 0
    until stop
      i += 1
      a = Array.new(50) { "#{n} #{i} #{it}" }
      a.sort!
      a << a.join
      GC.start if i % 20 == 0
      Thread.pass
    end
  end
end

def check(what, got, want)
  puts "#{what}: #{got == want ? "right" : "wrong #{got.inspect[0, 60]}"}"
end

ints = Array.new(BIG) { |i| (i * 7919) % (BIG + 11) }
in_order = ints.tally.sort.flat_map { |k, n| [k] * n }
check "fixnums", ints.sort, in_order
check "floats", ints.map { _1 * 0.5 }.sort, in_order.map { _1 * 0.5 }
texts = ints.map { "#{_1 + 100_000}" }
check "strings", texts.sort, in_order.map { "#{_1 + 100_000}" }
check "same words", (["b", "a", "abcdefghij", "abcdefgh", ""] * BIG).sort.chunk_while { _1 == _2 }.map { [_1[0], _1.size] },
      ["", "a", "abcdefgh", "abcdefghij", "b"].map { [_1, BIG] }
check "sort!", ints.dup.sort!, in_order
check "sort_by", texts.sort_by { -_1.to_i }, in_order.reverse.map { "#{_1 + 100_000}" }
check "sort_by is stable", Array.new(3 * BIG) { [_1 % 3, _1] }.sort_by(&:first).each_cons(2).all? { |a, b| (a <=> b) < 0 }, true
check "mixed", (ints + [2.5, 2**70, -2**70]).sort.values_at(0, -1), [-2**70, 2**70]
check "min", [ints.min, texts.max, (ints + [0.5]).max], [0, texts.sort.last, in_order.last]
check "uniq", [(ints + ints).uniq, (texts + texts).uniq, (ints + ints).uniq!.size], [ints, texts, BIG]
begin
  (ints + [nil]).sort
rescue ArgumentError => e
  puts e.message
end
begin
  [*ints, Float::NAN, 1.5].sort
  puts "no order of NaN"
rescue ArgumentError => e
  puts e.class
end

# Others change what is being looked at.
shared = texts.dup
changer = Thread.new do
  r = Random.new(1)
  until stop
    k = r.rand(shared.size)
    case r.rand(3)
    when 0 then shared[k] = "#{k} was changed, to something longer"
    when 1 then shared[k].replace("x" * (k % 40))
    else shared[k] << "y"
    end
  end
end
4.times do
  s = shared.sort
  raise "lost" unless s.size == BIG && s.all?(String)
  shared.min
  shared.uniq
end
puts "changed meanwhile: whole"

a, b = 3**40_000, 7**30_000
check "product", (a * b) % 1_000_003, (a % 1_000_003) * (b % 1_000_003) % 1_000_003
check "square", a * a == 3**80_000, true
check "quotient", (a * b + 5).divmod(a), [b, 5]
check "division", [(a * b) / b == a, (a * b) % b, (a * b + 1).div(-a) == -b - 1], [true, 0, true]
check "power", [3.pow(40_000, 1_000_003), (3**40_000) % 1_000_003].uniq.size, 1
check "text", a.to_s.to_i, a
check "Integer()", Integer(a.to_s), a
check "base 36", a.to_s(36).to_i(36), a
check "root", Integer.sqrt(a * a + 1), a
check "gcd", (a * 1001).gcd(b * 1001), 1001
check "digits", (7**3000).digits.reverse.join, (7**3000).to_s
begin
  Integer(a.to_s + "x")
rescue ArgumentError => e
  puts e.message[0, 30]
end

slow = "a" * 28 + "!"
check "backtracking", /^(a|aa)+$/.match?(slow), false
long = "abc def " * WORDS + "the end"
check "long subject", long =~ /the\s(e)nd/, 8 * WORDS
check "groups", [$1, $~.pre_match.size, $~.end(0)], ["e", 8 * WORDS, 8 * WORDS + 7]
check "start", [slow.start_with?(/(a|aa)+$/, /(aa|a)+$/, /(a|aa)+!/), slow.start_with?(/(a|aa)+$/)], [true, false]
check "backwards", long.rindex(/a\w+c/), 8 * WORDS - 8
check "nothing", [/xyz+/.match(long), $~], [nil, nil]
check "frozen", long.dup.freeze.match?(/d\z/), true
check "greedy", long[/.*/].size, long.size
check "scan", long.scan(/\w+/).size, 2 * WORDS + 2
check "scan groups", long.scan(/(a)(b)/).uniq, [["a", "b"]]
check "gsub", long.gsub(/[ac]/) { _1.upcase }.count("AC"), 2 * WORDS
check "gsub text", long.gsub(/b(c)/, '<\1>').size, long.size + WORDS
check "gsub hash", long.gsub(/[af]/, "a" => "1", "f" => "").size, long.size - WORDS
check "gsub!", long.dup.gsub!(/zz/, ""), nil
check "split", long.split(/\s+/).size, 2 * WORDS + 2
check "many pieces", long.split("c").size, WORDS + 1
check "letters", long.scan(/./).size, long.size
check "umlauts", ("äöü " * WORDS).scan(/ö/).size, WORDS
check "\\G", ("a" * WORDS + "b" + "a" * 10).scan(/\Ga/).size, WORDS
begin
  Regexp.new("^(a|aa)+\\1$", timeout: 0.05).match?("a" * 60 + "!")
rescue Regexp::TimeoutError => e
  puts e.message
end
racing = "key=value; " * WORDS
cutter = Thread.new do
  until stop
    racing.setbyte(rand(racing.bytesize), 120)
    racing << "key=value; "
    racing.slice!(0, 11)
  end
end
4.times do
  m = racing.match(/(nothing|like|that)+\d/)
  raise "found #{m}" if m
  racing.scan(/key/)
  racing.gsub(/value/, "v")
  racing.split(/;/)
end
puts "changed subject: whole"

doc = { "list" => Array.new(BIG / 5) { |i| { "id" => i, "text" => "näme #{i}\n", "parts" => [i * 0.5, nil, true, [], {}] } }, "big" => 3**50 }
text = JSON.generate(doc)
check "json", JSON.parse(text), doc
check "json symbols", JSON.parse(text, symbolize_names: true)[:list][BIG / 5 - 1][:id], BIG / 5 - 1
check "json freeze", JSON.parse(text, freeze: true)["list"][7]["parts"].frozen?, true
begin
  JSON.parse(text[0..-3] + "x")
rescue JSON::ParserError => e
  puts e.message[0, 45]
end
check "same keys", JSON.parse(text)["list"].map { _1.keys[1].object_id }.uniq.size, 1

data = "some bytes " * 100_000
check "digest", Digest::SHA256.hexdigest(data), "1b917567ea1772860fdf78722ad36dc7ad22be1e5d2710f205bd94d204013430"
check "checksums", [Zlib.crc32(data), Zlib.adler32(data)], [1494842318, 1720193245]
check "deflate", Zlib::Inflate.inflate(Zlib::Deflate.deflate(data)), data

# Killed and timed out while at work: it ends, and what comes next is right.
t = Thread.new { loop { a * b } }
sleep 0.02
t.kill
t.join
require "timeout"
begin
  Timeout.timeout(0.05) { loop { ints.sort } }
rescue Timeout::Error
  puts "timed out"
end
check "afterwards", [3, 1, 2].sort + [a * 0], [1, 2, 3, 0]
pid = fork { exit!(((a * a) / a == a) ? 3 : 4) }
check "fork", Process.wait2(pid)[1].exitstatus, 3

stop = true
noise.each(&:join)
changer.join
cutter.join
puts "end"
