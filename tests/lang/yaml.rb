# What a YAML text lacks is told as Psych tells it: the place is that of what could not be read to its end.
require "yaml"

["a: [1, 2", "a: b: c", "- a\nb: 1", "a: 'x", "a: \"x\\q\"", "\tb: 1", "a: 1\n b: 2", "a\nb: 1", "{a: 1", "[a, b]]", "%FOO", "a: &\n", "*", "*x", "!<foo", "a: !!x!y z", "|x\n foo", "a:\n- b\n c", "key: [a, b\nother: 1", "x: @a", "`a", "a: 1\n\x01b: 2", "\xff", "a: \xe3\x81", "---\n...\n...\nfoo: [", "? a\n? b\n: c\n  : d", "- - a\n - b", "%YAML 3.0\n---\na", "%YAML 1.1\n%YAML 1.1\n---\na", "%TAG ! a\n%TAG ! b\n--- x", "'a\n--- b'", "a: |\n\t x\n b", "a: >9x\n b", "{a: b, c", "{,}", "[,]", "- a\n-b", "\"a\": 1\n\"b\"", "a: ]", "--- a\nb", "foo: bar\nbaz", "&a &b c", "!a !b c","!x!y z"].each do |s|
  begin
    r = YAML.unsafe_load(s)
    puts "#{s.inspect} => #{r.inspect}"
  rescue Psych::SyntaxError => e
    puts "#{s.inspect} #{e.message} | #{[e.file, e.line, e.column, e.offset, e.problem, e.context].inspect}"
  rescue => e
    puts "#{s.inspect} #{e.class} #{e.message}"
  end
end
begin
  YAML.load("a: [", filename: "f.yml")
rescue Psych::SyntaxError => e
  puts e.message, e.file, e.backtrace.grep(/internal|psych/).size
end
puts((YAML.load("["*20_000) rescue $!.message))

# What a handler is told.
handler = Class.new(Psych::Handler) do
  Psych::Handler.instance_methods(false).each do |name|
    define_method(name) { |*args| puts "#{name} #{args.inspect}" unless name == :streaming? }
  end
end.new
Psych::Parser.new(handler).parse("%YAML 1.1\n%TAG ! tag:x,2000:\n--- !foo\na: &x [1, 'b', \"c\"]\nb: *x\nc: |\n  lit\nd: {e: >\n")  rescue p $!
Psych::Parser.new(handler).parse("--- !!set {a, ? b}\n--- foo\n...\n")

# Trees.
doc = Psych.parse("a: [1, 2]\nb: {c: d}")
p doc.class, doc.to_ruby, doc.root.mapping?, doc.root.children[1].start_column, doc.root.children[1].children[0].value
p doc.each.map { |node| node.class.name[/\w+\z/] }, doc.grep(Psych::Nodes::Scalar).map(&:value)
p doc.root.children.map { |node| [node.start_line, node.start_column, node.end_line, node.end_column] }
p Psych.parse(""), Psych.parse_stream("a\n--- b").children.map(&:to_ruby), Psych.parse_stream("--- [a]\n--- {b: c}\n").to_ruby
Psych.parse_stream("a\n--- b\n--- [") { |d| p d.to_ruby } rescue puts $!.message
p Psych.load_stream("a\n--- b\n--- {c: 1}"), Psych.load("a: 1\n--- ["), Psych.safe_load("x: &a [1]\ny: *a", aliases: true)

# Tags of one's own.
class Point
  attr_reader :said
  def init_with(coder) = @said = [coder.tag, coder.type, coder.map, coder.seq, coder.scalar]
end
Psych.add_tag("!point", Point)
p Psych.unsafe_load("--- !point\nx: 1").said, Psych.unsafe_load("!point [1, 2]").said, Psych.unsafe_load("!point 7").said
p (Psych.safe_load("!point {}") rescue $!.message)
class Plain
  def initialize = @a = 3
end
Psych.add_tag("!plain", Plain)
puts Plain.new.to_yaml
p Psych.unsafe_load(Plain.new.to_yaml).class
Psych.add_domain_type("example.com,2002", "pair") { |tag, value| [tag, value] }
p Psych.unsafe_load("--- !<tag:example.com,2002:pair>\nx: 1"), Psych.unsafe_load("[!<tag:example.com,2002:pair> x, y]")
Psych.add_builtin_type("twice") { |_, value| value * 2 }
p Psych.unsafe_load("!!twice ab")
Psych.remove_type("tag:yaml.org,2002:twice")
p Psych.unsafe_load("!!twice ab")
p ["! 12", "! ~", "! \"12\"", "!foo \"12\"", "!!int \"12\"", "!!str 1", "!!float 12", "!!int x", "!!omap [a: 1]", "!binary aGk="].map { |s| YAML.unsafe_load(s) }
p YAML.load("- 'a\n\n  b'\n- \"\\u00e9\\x41\\\n  b\"\n- plain\n  over\n\n  lines\n- |+1\n  x\n\n- >-\n  f\n  g\n")
