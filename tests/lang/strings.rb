s = "Hello, World"
p s.length, s.upcase, s.downcase, s.swapcase, s.reverse, s[0], s[-1], s[0, 5], s[0..4], s[7..], s[/W\w+/]
p s.sub("World", "Ruby"), s.gsub("o", "0"), s.gsub(/[aeiou]/) { |m| m.upcase }, s.tr("lo", "01"), s.delete("l"), s.squeeze("l"), s.count("lo")
p s.index("o"), s.rindex("o"), s.include?("World"), s.start_with?("Hell"), s.end_with?("d"), s.center(20, "*"), s.ljust(15, "."), s.rjust(15)
p "a,b,,c".split(","), "a b  c".split, "abc".split(""), "a,b,c".split(",", 2), "1-2_3".split(/[-_]/)
p "  x ".strip, "xxhixx".delete_prefix("xx").delete_suffix("xx"), "line\n".chomp, "abc".chop, "abc".succ, "az".next, "Zz".succ
p "%05.2f|%-5s|%+d|%x|%08b|%e|%%|%c" % [3.14159, "ab", 5, 255, 10, 12345.678, "z"]
p "abc" <=> "abd", "a" * 3, "abc" + "def", "abc".eql?("abc"), "abc".equal?("abc"), "abc".hash == "abc".hash
p "héllo".length, "héllo".bytes.size, "héllo"[1], "日本語".reverse, "日本語".chars, "é".ord, 233.chr("UTF-8")
p "tab\t\"quote\" \e \u0001 \\ #{1 + 1}", 'single #{x} \n', "a\0b"
str = +"abc"
str << "def" << 33
str.insert(3, "-")
str[0] = "X"
p str, str.replace("new"), str.frozen?, "lit".dup.concat("a", "b")
p "hello world foo".capitalize, "hello"*0, "abc".each_char.to_a, "ab\ncd\n".lines, "ab\ncd".each_line.map(&:chomp)
p "abc".unpack("C*"), [97, 98].pack("C*"), "abc".sum, "hello".scan(/l/), "k1=v1;k2=v2".scan(/(\w+)=(\w+)/)
p "hello %{a} %<b>03d" % { a: 1, b: 2 }, "abc".partition("b"), "abcbd".rpartition("b"), "Ab".casecmp("aB"), "Ab".casecmp?("aB")
p "abc".between?("abb", "abd"), "a".upto("e").to_a, "title case".split.map(&:capitalize).join(" ")
