if "John Smith <js@x.org>" =~ /(?<first>\w+) (\w+) <(.+)>/
  p $~[:first], $~.pre_match, $`, $', $~.begin(0)
end
m = "2024-03-15".match(/(\d+)-(\d+)-(\d+)/)
p m[0], m[1..], m.captures, m.to_a, m.begin(2), m.offset(3), $1, $2, $3, $~.class
if /(?<y>\d+)-(?<mo>\d+)/ =~ "2024-03"
  p y, mo
end
m = /(?<a>.)(?<b>.)?/.match("x")
p m.names, m.named_captures.to_a, m[:b], m["a"], m.values_at(0), m.pre_match, m.post_match
p "foobar".gsub(/o+/) { $&.upcase }, "foo bar".gsub(/(\w)(\w*)/) { "#{$1.upcase}#{$2}" }, "a1b2".gsub(/\d/, "1" => "one", "2" => "two"), "hello".gsub(/l/, "l" => "L"), "path/to".gsub("/", "::"), "abc".gsub(/b/, '[\0]'), "John Smith".sub(/(\w+) (\w+)/, '\2 \1'), "x".gsub(/(?<n>x)/, '<\k<n>>')
p "a,b;c".split(/[,;]/), "a1b2".scan(/[a-z]\d/), "test123".slice(/\d+/), "aaa".index(/a/, 1), "CamelCaseString".gsub(/([A-Z])/) { "_" + $1.downcase }
p (/a.c/m).match?("a\nc"), /A/i.match?("a"), /a b # comment
  c/x.source.size, /x/ === "x", /x/ == /x/, /(.)(.)/.match("ab").captures, Regexp.escape("a.b*c"), Regexp.union("a", /b/), /\p{Alpha}+/.match("héé!")[0]
p "foo" !~ /z/, "aXbX".rindex(/X/), "abc"[/b(c)/, 1], "x=1, y=2".scan(/(\w)=(\d)/).to_h.to_a, "ab12".tr("a-z", "A-Z"), $~.nil?
p "price: $30".match(/\$(?<amt>\d+)/)[:amt], "aaa".sub(/a{2}/, "b"), "foo.bar(baz)".split(/[.()]/), /(a)|(b)/.match("b").to_a, "été".scan(/\w/), "\u3042\u3044" =~ /\u3044/
p "ab\ncd" =~ /^cd$/, "ab\ncd" =~ /\Acd/, "x" * 3 =~ /x{3}\z/, "aab".match(/(?<!a)b/), "ab".match(/(?<=a)b/)[0], "foobar"[/foo(?=bar)/], /\bfoo\b/.match?("a foo b"), "aaa"[/a+?/], /(?i)ABC/.match?("abc")
re = /(\d+)/
p re.source, re.options, re.to_s, re.inspect, re.names, Regexp.new("a/b").inspect, /\//.source, (Regexp.new("(") rescue $!.class), re.frozen?, "#{re}x"
p "hello world".each_char.select { |c| c =~ /[aeiou]/ }.join
"abc".match(/b/) { |md| p md[0] }
p "x-1".sub(/-(\d)/) { |s| $~[1] }, "aaa".gsub(/a/).with_index.map { |mm, i| "#{mm}#{i}" }, "abcabc".gsub(/b/, "b" => "X"), "ab" "cd" =~ /c/, $~ && $~[0]
