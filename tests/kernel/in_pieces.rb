# What is done in pieces gives what it gave whole: parents of parents, quoted-printable lines, random bytes.

%w[/ // /// /a //a ///a /a/ a/ a a/b a/b/ a//b// /a/b /a//b //a/b ///a/b/c a/b/c/d . .. ./a /. ///.///].push("", "a/"*9+"b", "////a////b////").each { |s| (0..6).each { |l| p [s, l, File.dirname(s, l)] }; p File.split(s) }
[["abc é=\tx \ny"], ["a" * 200], ["\n \n\t\n"], ["x" * 70 + "==é\n" + "z" * 80]].each { |a| %w[M M2 M5 M0 M100].each { |t| p a.pack(t) } }
r = Random.new(3)
p r.bytes(5), r.bytes(0), r.rand(100)
a = Random.new(3)
b = Random.new(3)
whole = a.bytes(17_000_001)
parts = "".b
parts << b.bytes(1 << 20) while parts.bytesize + (1 << 20) <= 17_000_001
parts << b.bytes(17_000_001 - parts.bytesize)
p whole == parts, whole.encoding == Encoding::BINARY, a.rand(1000) == b.rand(1000), Random.urandom(17_000_001).bytesize
[-1, 2**70].each { |n| begin; Random.bytes(n); rescue => e; p e.class; end }
p Regexp.new("a" * 900_000 + "(b|c)d") =~ "x" + "a" * 900_000 + "cd"
begin; Regexp.new("a" * 900_000 + "("); rescue => e; p e.class; end
p Regexp.escape("a b.é" * 500_000).size
begin; eval("(" * 300_000); rescue SyntaxError => e; p e.class; end
p File.dirname("a/" * 2_000_000, 1_999_998)
