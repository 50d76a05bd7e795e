# Strings shared by threads.
def together(n)
  go = false
  ts = n.times.map { |i| Thread.new { Thread.pass until go; yield i } }
  go = true
  ts.map(&:value)
end
T = 6

s = +""
together(T) { |t| 1500.times { s << "abc" } }
p [:append, s.size, s.scan("abc").size]

s = +""
together(T) { |t| 300.times { s.concat("<", t.to_s, ">") } }
p [:concat, s.size, s.scan(/<\d>/).size]

s = +""
together(T) { |t| 300.times { s.prepend("[#{t}]") } }
p [:prepend, s.size, s.scan(/\[\d\]/).size]

s = "x" * 600
together(T) { |t| 100.times { |i| s[t * 100 + i] = t.to_s } }
p [:store, s.size, s.chars.tally.values.uniq]

s = "\0" * 600
together(T) { |t| 100.times { |i| s.setbyte(t * 100 + i, 65 + t) } }
p [:setbyte, s.bytesize, s.bytes.tally.values.uniq]

s = +"a" * 40
bad = 0
done = false
rd = 2.times.map { Thread.new { until done; c = s.dup; bad += 1 unless c.squeeze.size == 1 && c.size == 40; Thread.pass; end } }
together(3) { |t| 500.times { |i| s.replace((97 + (t + i) % 26).chr * 40) } }
done = true
rd.each(&:join)
p [:replace, bad]

s = +"Hello World" * 5
bad = 0
done = false
rd = 2.times.map { Thread.new { until done; c = s.dup; bad += 1 unless [c.upcase, c.downcase, c.swapcase, c.capitalize].include?(c) || c == "Hello World" * 5; Thread.pass; end } }
together(3) { |t| 200.times { t == 0 ? s.upcase! : t == 1 ? s.downcase! : s.capitalize! } }
done = true
rd.each(&:join)
p [:case, bad]

# The encoding changes under readers: answers are those of one encoding or the other.
s = +"äöü€" * 10
sizes = [40, s.bytesize]
r = together(4) do |t|
  if t < 2
    300.times { |i| s.force_encoding(i.odd? ? Encoding::UTF_8 : Encoding::BINARY) }
    []
  else
    300.times.map { c = s.dup; [c.size, c.valid_encoding?, c.bytesize] }.uniq
  end
end.flatten(1).uniq
p [:force_encoding, r.all? { |n, v, b| sizes.include?(n) && v && b == 90 }]

# Anything may be asked of a String that shrinks and grows.
s = +"start"
done = false
ws = 2.times.map { |t| Thread.new { until done; begin; s.replace("ä€b" * 200); s.setbyte(0, 200); s.clear; s << "kurz"; s.slice!(1, 2); s.squeeze!; s.insert(0, "été"); s.force_encoding("BINARY"); s.force_encoding("UTF-8"); s.succ!; s.reverse!; s.tr!("a-y", "b-z"); s.delete!("q"); s.sub!(/b/, "ccc"); s.gsub!("c") { "d" }; s.lstrip!; s.chomp!; s.unicode_normalize!; rescue RuntimeError, ArgumentError, EncodingError, IndexError; end; Thread.pass; end } }
n = 0
3.times.map do
  Thread.new do
    60.times do
      begin
        s.size; s.bytes; s.chars; s.each_char { |c| c }; s.each_line { |l| l }; s.index("b"); s.hash; s.to_sym; s.inspect
        s.scrub; s.encode("UTF-16LE"); s.unpack("U*"); s =~ /b(.)/; $~ && $~[1]; s.scan(/./); s[1..]; s.upcase; s + s; s * 2; s == "x"; s.split("b"); s.sum; s.crypt("ab"); s.to_i; s.to_f; s.hex; s % []; s.center(20); s.ljust(2000); s.start_with?("d"); s.byteslice(3, 5); s.unpack1("a*"); s.casecmp?("X"); s.tr("a", "b"); s.each_grapheme_cluster { }; s.dump; s.succ; s.partition("d"); s.gsub(/d/, "e"); s.sub("e") { |x| x }
      rescue ArgumentError, EncodingError, RangeError, IndexError => e
        n += 1
      end
    end
  end
end.each(&:join)
done = true
ws.each(&:join)
p [:anything, n >= 0]

# One String, frozen by one of many.
s = +""
r = together(T) { |t| k = 0; begin; 400.times { |i| s << "."; k += 1; s.freeze if t == 3 && i == 200 }; rescue FrozenError; end; k }
p [:freeze, r.sum == s.size, s.frozen?]

# Interpolation and fresh strings are each thread's own.
r = together(T) { |t| 400.times.map { |i| "#{t}-#{i}-#{:sym}-#{1.5}" }.uniq.size }
p [:interpolation, r]
r = together(T) { |t| 200.times.map { -"same#{_1 % 10}" }.map(&:object_id).uniq.size }
p [:interned, r]
p [:one_interned, together(T) { -"shared by all #{1 + 1}" }.map(&:object_id).uniq.size]
