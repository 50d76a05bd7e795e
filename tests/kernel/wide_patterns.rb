# Patterns of wide text: an operator is a character of several bytes, and so is what quotes it.
def t(l) = (begin; r = yield; puts "#{l}: #{r.inspect}"; rescue Exception => e; puts "#{l}: #{e.class}: #{e.message.b[0, 60].inspect}"; end)
W = %w[UTF-16LE UTF-16BE UTF-32LE UTF-32BE]
W.each do |w|
  a, b = "a.c".encode(w), "é|x".encode(w)
  t(w) { [Regexp.new(a).encoding, Regexp.new(a).source == a, Regexp.new(a).fixed_encoding?, Regexp.new(a) =~ "xxabc".encode(w)] }
  t(w) { Regexp.union(a, b).then { |r| [r.encoding, r.source.encode("UTF-8"), r.source.encoding, r =~ "zzé|xa.c".encode(w), r =~ "azc".encode(w)] } }
  t(w) { r = Regexp.union(a); [r.encoding, r.source.encode("UTF-8"), r.match?("a.c".encode(w)), r.match?("azc".encode(w))] }
  t(w) { Regexp.new("(?<n>b+)".encode(w)).match("aabbc".encode(w)).captures.map { _1.encode("UTF-8") } }
  t(w) { Regexp.new("(b+)(é)?".encode(w)).match("aabbéz".encode(w)).then { |m| [m.begin(0), m.end(0), m[1].encode("UTF-8"), m[2].encode("UTF-8"), m.pre_match.encode("UTF-8"), m.post_match.encode("UTF-8")] } }
  t(w) { "a1b22c".encode(w).gsub(Regexp.new("[0-9]+".encode(w)), "#".encode(w)).encode("UTF-8") }
  t(w) { "a1b22c".encode(w).scan(Regexp.new("\\d+".encode(w))).map { _1.encode("UTF-8") } }
  t(w) { "a,b,c".encode(w).split(Regexp.new(",".encode(w))).map { _1.encode("UTF-8") } }
  t(w) { Regexp.new("A".encode(w), Regexp::IGNORECASE) =~ "xa".encode(w) }
  t(w) { Regexp.new(a) =~ "abc" }
  t(w) { Regexp.new("a") =~ a }
  t(w) { Regexp.new("(".encode(w)); }
  t(w) { Regexp.new("\x00\x00\x00".dup.force_encoding(w)) }
  t(w) { Regexp.new(a) == Regexp.new(a) && Regexp.new(a).hash == Regexp.new(a).hash }
  t(w) { Regexp.union(a, b.encode("UTF-8")) }
  t(w) { Regexp.union(a, "q") }
  t(w) { Regexp.linear_time?(Regexp.new(a)) }
  t(w) { Regexp.escape(a).encode("UTF-8") }
end
t(:dummy) { Regexp.new("a".encode("UTF-16")) }
t(:mix) { Regexp.union("a".encode("UTF-16LE"), "b".encode("UTF-16BE")) }
t(:mix) { Regexp.union("a".encode("UTF-16LE"), "é".encode("ISO-8859-1")) }
t(:re) { Regexp.union(Regexp.new("a".encode("UTF-16LE"))).encoding }
