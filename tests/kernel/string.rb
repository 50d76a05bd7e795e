s = +""
50.times { |i| s << "line #{i}\n" }
p s.lines.size, s.each_line.map(&:chomp).last, s.scan(/\d+/).size, s.gsub(/(\d)(\d)?/) { "<#{$1}#{$2}>" }.size, s.split("\n").map { |l| l.split(" ") }.transpose.size, s.tr("a-y", "b-z").lines.first, s.index("line 9"), s.bytes.sum, s.unpack1("a4"), s.each_char.first(2), s.sum
t = "caf\u00e9 \u65e5\u672c"
p t.length, t.bytesize, t.upcase, t.reverse, t[3], t.encode("UTF-16LE").bytesize, t.b.encoding, t.unicode_normalize(:nfd).length, t.chars.each_slice(2).map(&:join), t.inspect, t.dump, t.valid_encoding?, t.force_encoding("BINARY").length
p "%s-%05d-%.2f-%x" % ["a", 42, 3.14159, 255], "abc".each_char.with_index.map { |c, i| c * i }.join, "a-b_c d".split(/[-_ ]/).map(&:capitalize).join, "hello"[1..3], "hello".sub(/l+/) { |m| m.upcase }, "x=1;y=2".split(";").to_h { |kv| kv.split("=") }
u = "abc"
v = u.dup << "d"
p u, v, u.succ, u.center(9, "*"), u.unpack("C*").pack("C*"), u.ljust(5, ".") + "|", "%-5s|" % u, u.insert(1, "ZZ"), u.slice!(0, 2), u, u.prepend(">"), u.replace("new"), u.clear, u.empty?, "ab".ord, "a".upto("e").to_a.join, "Hello World".swapcase, "snake_case_word".gsub(/_(\w)/) { $1.upcase }, "title".capitalize.to_sym
