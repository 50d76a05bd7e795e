# A joined string has the encoding of the text it stands in, while its parts are ASCII.
a = "a".dup.force_encoding("US-ASCII"); l = "\xe9".dup.force_encoding("ISO-8859-1"); e = "".dup.force_encoding("EUC-JP"); la = "q".dup.force_encoding("ISO-8859-1")
x = 1
p ["#{x}", "#{x}#{x}", "#{a}", "#{l}", "#{e}", "#{la}", "#{la}#{x}", "#{x}#{la}", "#{x}#{l}", "a#{x}", "#{x}a", "#{e}#{a}", "#{:a}", "#{nil}", "#{1.5}", "#{true}", "#{a} ", "#{:a}#{la}", "#{Object}", "#{la}#{a}", "#{a}#{la}", "#{e}#{la}"].map { |s| s.encoding.to_s }
%w[EUC-JP ISO-8859-1 US-ASCII].each do |source|
  p eval("# encoding: #{source}\nx = 1;\n[\"\#{x}\", \"a\#{x}\", \"\#{:b}\", :\"c\#{x}\", /\#{x}/, `echo \#{x}`].map { |s| s.encoding.to_s }")
end
many = %q(#{x}) * 300
p eval("\"#{many}\"").encoding, eval("\"#{many}é\"").encoding, eval("# encoding: EUC-JP\n\"#{many}\"").encoding, eval("\"#{many}\\#{l}\"").encoding
p(("é#{l}" rescue $!.message), ("#{l}é" rescue $!.message), "#{l}#{l}".bytes)
# Text of an encoding without ASCII stands beside nothing else; a Symbol has its own.
w = "a".encode("UTF-16LE"); n = "".encode("UTF-16LE"); s = l.to_sym; x = 1
p "#{w}".encoding, "#{n}b", "b#{n}", "#{w}#{n}#{w}".encoding
["w + b", "b + w", "1 + w", "w + 1", "w + é"].each do |how|
  p eval(%("#{how.split(" + ").map { |q| { "w" => "\#{w}", "1" => "\#{x}" }.fetch(q, q) }.join}"))
rescue Encoding::CompatibilityError
  puts "#{how}: #{$!.message}"
end
p "#{s}".encoding, "a#{s}".bytes, "#{:é}".encoding, ("é#{s}" rescue $!.message), :"x#{s}".encoding
begin; p :"x#{"\xff"}"; rescue EncodingError; puts $!.message; end
p :"y#{"\xa4\xa2".dup.force_encoding("EUC-JP")}".encoding
# What the library makes of numbers is ASCII.
require "bigdecimal"
p [Complex(1, 2).to_s, Complex(1.5, -2).to_s, (1..2).to_s, BigDecimal("1").to_s, BigDecimal("1.5").to_s("F"), BigDecimal("NaN").to_s].map { |s| s.encoding.to_s }
p((Time.at(0).getlocal("+09:00".encode("UTF-16LE")) rescue [$!.class, $!.message]))
