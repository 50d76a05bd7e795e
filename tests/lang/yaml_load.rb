# What YAML texts mean, as CRuby's Psych reads them: scalars, tags, merges, what may be loaded. The output is CRuby's.
require "psych"
require "date"
require "set"
require "ostruct"

Point = Struct.new(:x, :y)
class Box; end
class Named < Hash; end
class Row < Array; end
class Label < String; end

# The same text whichever version of Ruby prints it.
def show(x)
  case x
  when Hash then "#{x.class unless x.instance_of?(Hash)}{#{x.map { |k, v| "#{show(k)}=>#{show(v)}" }.join(" ")}}#{variables(x)}"
  when Array then "#{x.class unless x.instance_of?(Array)}[#{x.map { |y| show(y) }.join(" ")}]#{variables(x)}"
  when Float then x.nan? ? "NaN" : x.inspect
  when String then "#{x.class unless x.instance_of?(String)}#{x.inspect}#{variables(x)}"
  when Symbol then ":#{x.to_s.inspect}"
  when Time then "T#{x.to_r} #{x.utc? ? "Z" : x.utc_offset}"
  when DateTime then "DateTime #{x.iso8601(3)}"
  when Date then "Date #{x}"
  when Range then "(#{show(x.begin)} #{show(x.end)} #{x.exclude_end?})"
  when Set then "Set#{show(x.to_a)}"
  when Struct then "#{x.class.name || "struct"}(#{x.each_pair.map { |k, v| "#{k}:#{show(v)}" }.join(" ")})#{variables(x)}"
  when OpenStruct then "OpenStruct#{show(x.to_h)}"
  when Exception then "#{x.class}(#{x.message})#{x.backtrace.inspect}#{variables(x)}"
  when nil, true, false, Numeric, Regexp, Module, Encoding then x.inspect.sub(" (ASCII-8BIT)", "")
  else "#{x.class}#{variables(x)}"
  end
end

def variables(x)
  names = x.instance_variables.sort
  names.empty? ? "" : "<#{names.map { |v| "#{v}=#{show(x.instance_variable_get(v))}" }.join(" ")}>"
end

def try
  show(yield)
rescue Psych::BadAlias
  "BadAlias"
rescue Psych::DisallowedClass => e
  e.message
rescue StandardError => e
  e.class.name
end

puts "scalars"
ENV["TZ"] = "America/New_York"
%w[0b1,1 0b,1 0x1,f 0X1f 0B1 0o17 0O17 -0x1f +0b1 0_7 0,7 1,000 1,0,0 1__0 -1,0 0x 0b 0_ 0, -0 +0 00 08 09.5 1_0.5 1,0.5 .5_
   0_.5 1.e+5 1.5e5 1.5E-5 -.5 +.5 .5# . -. +. .. 1. -1. 1_. 01.5 1:00 01:60 1:2:3:4 190:20:30 190:20:30.15 1_0:20 -1:20.5 -1:00:01
   685_230.15 1e5 1.0e5 6.8e+5 0x1.5 1.5.5 12-3 2001-1-1 2001-01-1 2001-1-32 2001-13-1 20011-1-1 2001-01-01T 99999999999999999999
   0777777777777777777777777 -0b101 +.inf -.INF +.Inf .Nan +.nan -.nan ~ ~~ nUll Null NULL nulls yes yES oN OFF off Yes no true False
   Y y n N on. +1 +a -a - :a :"a" :'a' :'a'x :'a" :"a :a" :"" :'' :: := :a:b :é].each { |s| puts "#{s} #{try { Psych.unsafe_load("- #{s}\n- x")[0] }}" }
["2001-12-14 21:59:43", "2001-12-14 21:59:43Z", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.1234567891 +1",
 "2001-12-14 21:59:43 -0", "2001-12-14T21:59:43+0530", "2001-12-14  21:59:43. Z", "2001-13-14 21:59:43", "2001-12-14 25:59:43Z",
 "-2001-12-14 21:59:43Z", "2001-12-14T21:59", ":a b", "a\n\n b", ":a\n\n b", "1\n\n 2", "1 2", "12 # x", "null null"].each do |s|
  puts "#{s.inspect} #{try { Psych.unsafe_load(s) }}"
end

puts "tags"
tags = %w[!!str !str !!int !!float !!bool !!null !!binary !!set !set !!omap !omap !!seq !!map ! !foo !!foo !ruby/symbol !ruby/sym !ruby/regexp
          !ruby/range !ruby/class !ruby/module !ruby/encoding !ruby/object !ruby/object:Box !ruby/object:Complex !ruby/object:Rational
          !ruby/object:Hash !ruby/object:OpenStruct !ruby/object:Nope !ruby/struct !ruby/struct:Point !ruby/struct:Nope !ruby/exception
          !ruby/exception:KeyError !ruby/hash:Named !map:Named !ruby/hash-with-ivars:Named !ruby/hash-with-ivars !ruby/array:Row !seq:Row
          !ruby/string !ruby/string:Label !str:Label !str:Nope]
values = ["a", "'12'", "1.5", "aGk=", "/a.b/ix", "1..2", "'a'...'b'", "2001-01-01", "String", "utf-8", "1+2i", "3/4", "[1, a]", "[{a: 1}, {b: 2}]", "{}",
          "{x: 1, y: 2}", "{x: 1, '@z': 2}", "{begin: 1, end: 3, excl: true}", "{real: 1, image: 2}", "{numerator: 1, denominator: 2}",
          "{message: hi, backtrace: [a], code: 1}", "{elements: {a: 1}, ivars: {'@v': 2}}", "{internal: [1, 2], ivars: {'@v': 3}}",
          "{str: abc, '@v': 1}", "{<<: {x: 1}, y: 2}"]
# CRuby has no such method for nil; here it is a TypeError, or none.
skipped = /\A!ruby\/struct\S* (?:\{\}|\{<<)|\A!(?:str|!str|ruby\/string)[:A-z]* \{(?!str)|\A!ruby\/exception\S* \{(?:<<|.*@)|\A!ruby\/range [^'\[{12]|\A!!?omap \[1/
tags.product(values).map { |pair| pair.join(" ") }.grep_v(skipped).each { |s| puts "#{s} #{try { Psych.unsafe_load(s) }}" }
["!ruby/object:DateTime 2001-12-14 21:59:43.1Z", "!ruby/object:Set {hash: {a: true, b: true}}", "- &a !ruby/object:Box {me: 1}\n- *a",
 "&a !ruby/object:Box {me: 1}", "- !!set &a {x, y}\n- *a", "- !ruby/struct:Point &a {x: 1}\n- *a"].each { |s| puts "#{s.inspect} #{try { Psych.unsafe_load(s) }}" }
a = Psych.unsafe_load("&a [*a]")
p a[0].equal?(a)

puts "merges"
["- &a {a: 1}\n- <<: *a\n  b: 2", "- &a [{a: 1}, {b: 2}]\n- <<: *a\n  b: 3", "<<: [{a: 1, b: 1}, {a: 2, c: 2}]", "<<: [{a: 1}, 2]", "<<: [[a, b]]", "<<: []", "<<: ",
 "a: 0\n<<: {a: 1, b: 2}\nb: 3", "\"<<\": {a: 1}", "!!str <<: {a: 1}", "? !foo <<\n: {a: 1}", "<<: !ruby/hash:Named {a: 1}", "<<: !!set {a}",
 "<<: !!omap [a: 1]", "<<: !ruby/object:Box {a: 1}", "- &a x\n- <<: *a", "{b: 2, <<: {b: 3}, '<<': {c: 4}}"].each { |s| puts "#{s.inspect} #{try { Psych.unsafe_load(s) }}" }

puts "names as symbols"
["{a: {b: 1}}", "!ruby/hash:Named {a: {b: 1}}", "!ruby/object:Box {a: {b: 1}}", "!ruby/struct:Point {x: {b: 1}}", "!!set {a: , {b: 1}: }", "!!omap [a: {b: 1}]",
 "{? {a: 1} : {a: 1}}", "{<<: {a: 1}, 1: 2, !!str b: c, !foo c: d, \"q\": 1}", "&x {a: 1, b: [&y {c: d}, *y]}", "{<<: x}", "!ruby/object:Hash {a: 1}",
 "!ruby/range {begin: 1, end: 2, excl: false}"].each { |s| puts "#{s} #{try { Psych.unsafe_load(s, symbolize_names: true) }}" }

puts "frozen"
x = Psych.unsafe_load("{a: [b, {c: d}], e: !ruby/object:Box {f: g}, h: String, i: 1.5, k: !!set {l}}", freeze: true)
p x.frozen?, x["a"].frozen?, x["a"][1].frozen?, x["a"][1].keys[0].frozen?, x["e"].frozen?, x["e"].instance_variable_get(:@f).frozen?, x["k"].frozen?
y = Psych.load("[same, same]", freeze: true)
p y[0].equal?(y[1])

puts "what may be loaded"
["2001-12-14 21:59:43", "2001-12-14", "2001-13-14 21:59:43", ":a", "!ruby/symbol a", "!ruby/class String", "!ruby/struct {a: 1}", "!ruby/struct:Point {x: 1}",
 "!ruby/object {a: 1}", "!ruby/object:Box {}", "!ruby/array:Row [a]", "!ruby/hash:Named {a: 1}", "!ruby/hash-with-ivars {}", "!ruby/string:Label a", "!ruby/string a",
 "!ruby/regexp /a/", "!ruby/range 1..2", "!ruby/range {begin: 1}", "!!set {a}", "!!omap [a: 1]", "!!omap {a: 1}", "!ruby/exception {}", "!ruby/object:Complex 1",
 "!ruby/object:Rational {numerator: 1, denominator: 2}", "!ruby/object:DateTime 2001-12-14 21:59:43Z", "!ruby/encoding UTF-8", "!ruby/object:Nope {}", "[&a x, *a]",
 "*a"].each { |s| puts "#{s} #{try { Psych.safe_load(s) }}" }
two = "- :a\n- :b"
puts try { Psych.safe_load(two, permitted_symbols: [:a]) }, try { Psych.safe_load(two, permitted_classes: [Symbol], permitted_symbols: [:a]) }
puts try { Psych.safe_load("- :a", permitted_classes: [Symbol], permitted_symbols: [:a]) }, try { Psych.safe_load(two, permitted_classes: ["Symbol"]) }
puts try { Psych.safe_load("!ruby/struct:Point {x: 1}", permitted_classes: [Point, Symbol]) }, try { Psych.safe_load("[&a x, *a]", aliases: true) }
puts try { Psych.load("*a", aliases: true) }, try { Psych.load_stream("--- *a\n--- [") }, try { Psych.load("", fallback: 1) }, try { Psych.unsafe_load("") }

puts "encodings"
handler = Class.new(Psych::Handler) { def start_stream(e) = p(e)
  def event_location(*place) = p(place)
  def scalar(v, *) = p(v, v.encoding) }.new
["é", "é".encode("UTF-16LE"), "é".encode("UTF-16BE"), "\u{feff}é".encode("UTF-16LE"), "é".encode("ISO-8859-1"), "\u{feff}é", "é".b].each do |s|
  parser = Psych::Parser.new(handler)
  parser.parse(s)
  p parser.mark.index
end
