# Objects and trees as YAML texts: libyaml's, and CRuby's choice of style and tag. The output is CRuby's.
require "psych"
require "date"
require "set"
require "ostruct"
require "stringio"
require "bigdecimal"

Point = Struct.new(:x, :y)
class Box; end
class Named < Hash; end
class Row < Array; end
class Label < String; end
class Said
  def initialize(&block) = @block = block
  def encode_with(coder) = @block.call(coder)
end

def with(object, value = 3)
  object.instance_variable_set(:@v, value)
  object
end

def try
  yield
rescue StandardError => e
  "#{e.class}: #{e.message.lines.first&.chomp&.sub(/0x\h+/, "0x")}"
end

def text(x, **options) = try { Psych.dump(x, options) }

strings = ["a", "two words", "", " ", "  lead", "trail ", "a: b", "a:", ": a", "- a", "-", "?", "? a", "#", "a #b", "a#b", "'", "\"", "it's", "\"q\"", "[a", "a]",
           "{a", ",", "a, b", "&a", "*a", "!a", "|", ">", "%a", "@a", "`a", "~", "null", "Null", "true", "yes", "No", "on", "y", "n", "1", "0", "-1", "1.5", "1e3", "1.5e+3",
           "0x1f", "0o7", "017", "08", "09.5.1", "08a", "00.5", "1_000", "1,000", "2001-01-01", "2001-01-01 00:00:00", "12:30", "12:30:45", ".inf", ".nan", ".", "..",
           "...", "---", "--- a", "<<", "=", "\n", "a\nb", "a\n", "a\n\n", "\na", "\n\na", "a\n b", " a\nb", "a\n\nb\n", "a \nb", "a\n ", "\t", "a\tb", "\ta", "a\n\tb",
           "\r", "a\rb", "a\r\nb", "\0", "\x01", "\e[0m", "\x7f", "\u0085", "\u00a0", "é", "日本語", "\u2028", "a\u2028b", "\ufeff", "é\n日", "\xff".b, "caf\xe9".dup.force_encoding("ISO-8859-1"),
           "a".b, "é" * 100, "long " * 30, "long " * 30 + "\nx", "x" * 100 + " " + "y" * 100, "long  double  spaces " * 10, "a: long one, " * 10, "'quoted' long text " * 8,
           "ends with newline " * 6 + "\n", "\"dq\" and \t tab " * 8, "a\\b", "C:\\dir", "http://x.y/z", ":sym", "::", "a:b", "+1", "+", "--", "=)", "(a)", "a/b", "a\n#b",
           "a\n- b", "a\n---\nb", "   ", "\n \n", "a\n\n\nb\n\n", "0.1.2", "1e", "_1", "a b: c d"]
puts "strings"
strings.each { |s| puts text(s), text({ s => [s] }), text([[s]], line_width: 20) }

puts "symbols"
[:a, :"a b", :"a: b", :"", :true, :null, :"1", :"a\nb", :a?, :a=, :[], :+, :<=>, :"é", :-, :"?", :~, :"#a", :"'", :"\"", :y, :"a #", :"2001-01-01", :"!a", :" a", :"a ", :@a, :$a].each do |s|
  puts text(s), text({ s => s })
end

puts "values"
shared = [1]
again = Label.new("q")
values = [nil, true, 1, -1, 1 << 70, 1.5, 1e20, 1e-10, -0.0, Float::INFINITY, Float::NAN, 3r, Complex(1, 2), 1..2, ("a"..."b"), (1..), /a\/b/mi, String, Comparable,
          Time.at(0, 5, :nsec).utc, Time.new(2001, 1, 2, 3, 4, 5, "+05:30"), Date.new(2001, 1, 2), DateTime.new(2001, 1, 2, 3, 4, 5.5r, "+02:00"), Set[1, "a"], Set[],
          Point.new(1, "x"), Struct.new(:q).new(1), with(Point.new(1, 2)), Box.new, with(Box.new), with(Box.new, [nil]), Named[1, 2], with(Named[1, 2]), with(Named.new), Row[1], with(Row[1]),
          Label.new("a: b"), with(Label.new("s")), Label.new("\xff".b), RuntimeError.new("x"), with(RuntimeError.new("x")), Encoding::UTF_8, OpenStruct.new(a: 1),
          BigDecimal("1.5"), Psych::Omap[1, 2], Psych::Set[1, 2], Object.new, Class.new.new, [1, 2].each, [], {}, [[]], [{}], [[1, [2]], { a: [{ b: {} }] }],
          { [1] => 2, { a: 1 } => [3], nil => nil, 1.5 => true }, [shared, shared], { shared => shared }, [again, again], ["s", "s"], [strings, 1].first(0), [with(Row[1])] * 2,
          [Time.at(0).utc] * 2, [String] * 2, [Set[1]] * 2, [OpenStruct.new] * 2, [RuntimeError.new("x")] * 2, [shared, [2] * 2, [again, [3], shared]]]
values.each { |x| puts text(x) }
[[1, "a\nb", { "k" => ["v"] }], "x", { "a" => "long " * 10 }].each do |x|
  [{ indentation: 4 }, { indentation: 9, line_width: 30 }, { line_width: 20 }, { line_width: -1 }, { canonical: true }, { header: true }, { version: "1.2" }, { version: [1, 1] }].each { |o| puts text(x, **o) }
end
round = []
round << round
puts text(round), text(Class.new), text(Module.new)
puts "#{Psych.dump("a", StringIO.new).string}#{Psych.dump("a", StringIO.new, indentation: 4).string}#{{ a: [1] }.to_yaml(indentation: 4)}"
puts Psych.dump_stream("a", [1], "b\n", nil), Psych.to_json({ "a" => [1, nil, "b", { "c" => 1.5 }] })

puts "coders"
[->(c) { c["a"] = 1 }, ->(c) { c.tag = "!x"; c[:b] = [1] }, ->(c) { c.scalar = "foo" }, ->(c) { c.represent_scalar("!y", "z") }, ->(c) { c.represent_scalar(nil, "1") },
 ->(c) { c.represent_seq("!s", [1, 2]) }, ->(c) { c.represent_map("!m", { a: 1 }) }, ->(c) { c.seq = [1] }, ->(c) { c.map = { 1 => 2 } }, ->(c) { c.represent_object("!o", { 1 => 2 }) },
 ->(c) { c.style = Psych::Nodes::Mapping::FLOW; c["a"] = 1 }, ->(c) { c.implicit = true; c.tag = nil; c["a"] = 1 },
 ->(c) { p c.tag, c.type, c.map, c.seq, c.scalar, c.style, c.implicit, c.object }].each { |block| puts text([Said.new(&block)]) }
said = Said.new { |c| c["a"] = 1 }
puts text([said, said])

puts "what may be dumped"
puts try { Psych.safe_dump({ "a" => [1.5, nil, true] }) }, try { Psych.safe_dump([shared, shared]) }, try { Psych.safe_dump([shared, shared], aliases: true) },
     try { Psych.safe_dump(Point.new(1, 2)) }, try { Psych.safe_dump(Point.new(1, 2), permitted_classes: [Point]) }, try { Psych.safe_dump(Time.at(0)) },
     try { Psych.safe_dump(Named[1, 2]) }, try { Psych.safe_dump(%w[a a]) }, try { Psych.safe_dump([:a]) }, try { Psych.safe_dump([:a], permitted_classes: [Symbol], permitted_symbols: [:a]) }

puts "trees"
puts try { Psych.parse("a").to_yaml }, try { Psych.parse("a: 1").root.to_yaml }, Psych.parse_stream("a: 1").yaml(nil, indentation: 4)
puts Psych.parse_stream("%YAML 1.1\n%TAG !e! tag:e,2000:\n--- !e!x\n- |\n  lit\n- >\n  fold\n- \"dq\\t\"\n- {a: b}\n...\n--- &a [*a, 'q']\n").to_yaml
tree = Psych.parse_stream("a: [1, 2]\nb: 'x'\n")
tree.grep(Psych::Nodes::Sequence).each { |node| node.style = Psych::Nodes::Sequence::BLOCK }
tree.grep(Psych::Nodes::Scalar).each { |node| node.style = Psych::Nodes::Scalar::DOUBLE_QUOTED if node.value == "x" }
puts tree.to_yaml

puts "the emitter"
def emitter = Psych::Emitter.new(StringIO.new)
p emitter.canonical, emitter.indentation, emitter.line_width, (emitter.start_stream(1).class)
puts try { emitter.start_document([], [], false).class }
puts try { emitter.start_stream(1).start_document([1, 1], [["!e!", "tag:e:"]], false).scalar("a", "b c", nil, true, false, 0) }
puts try { emitter.start_stream(1).start_document([], [["a"]], true) }, try { emitter.scalar(1, nil, nil, true, false, 0) }
puts try { emitter.start_stream(1).start_document([], [], true).scalar("a", nil, nil, false, false, 1) }, try { emitter.start_stream(1).start_document([], [], true).alias("") }
puts try { emitter.start_stream(1).end_stream.end_stream }
out = StringIO.new
e = Psych::Emitter.new(out)
e.start_stream(1).start_document([1, 1], [["!e!", "tag:e:"]], false).start_sequence("x", "tag:e:q", false, 2)
e.scalar("a\xe9".dup.force_encoding("ISO-8859-1"), nil, nil, true, false, 0).alias("x").start_mapping(nil, nil, true, 1).end_mapping.end_sequence
p out.string, (e.end_document(true) && out.string), (e.end_stream && out.string)
parser = Psych::Parser.new(Psych::Emitter.new($stdout))
parser.parse("# away\na: { b: 'c' }\n? [d]\n: |\n   e\n--- !x y\n")
