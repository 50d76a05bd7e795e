# nodes: 2
# What travels, and what does not.
require "set"
S = Kumihimo::Segments
Point = Struct.new(:x, :y)
Named = Struct.new(:a, :b, keyword_init: true)
Size = Data.define(:width, :height)
if S.node == "node2"
  # Sends back what comes.
  loop do
    value = S.local.take("there")
    exit if value == :end
    S["node1"].put("back", value)
  end
end
there = S["node2"]
values = [
  nil, true, false, 0, -1, 2**62, -(2**63), 2**64, 10**50, -(10**50), 1.5, -0.0, Float::INFINITY, 3r, 2i,
  "", "plain", "Grüße", "\xff\xfe".b, "\xff\xfe", "caf\xe9".dup.force_encoding("ISO-8859-1"), "x" * 100_000,
  :symbol, :"with space", [], [1, [2, [3]]], {}, {a: 1, "b" => [2], nil => nil, 1.5 => :f}, {[1] => {x: 1}},
  1..2, (1...3), ("a".."c"), (1..), (..1), Set[1, :two, "three"], Point.new(1, [2]), Named.new(a: 1, b: "two"), Size.new(3, 4),
  Time.at(1_700_000_000, 123_456_789, :nsec, in: "+09:00"), Time.at(0).utc
]
values.each do |value|
  there.put("there", value)
  back = S.local.take("back", timeout: 20)
  same = value.is_a?(Float) ? [value].pack("G") == [back].pack("G") : value == back
  same &&= value.class == back.class
  same &&= value.encoding == back.encoding if value.is_a?(String)
  same &&= [value.utc_offset, value.nsec] == [back.utc_offset, back.nsec] if value.is_a?(Time)
  puts "#{value.inspect[0, 60]} came back as #{back.inspect[0, 60]}" unless same && Ractor.shareable?(back)
end
puts "#{values.size} values there and back"

[proc {}, Object.new, [1, {a: [Thread.current]}], $stdout, Class, Mutex.new, {deep: Point.new(1, Queue.new)}].each do |value|
  there.put("never", value)
  puts "#{value.class} has travelled"
rescue S::NotTransferable, TypeError, Ractor::Error => error
  puts "#{value.class}: #{error.class.name[/\w+\z/]}"
end
cycle = []
cycle << cycle
begin
  there.put("never", cycle)
  puts "a cycle has travelled"
rescue S::NotTransferable => error
  puts "a cycle: NotTransferable"
end
begin
  there.put("never", "x" * (65 << 20))
rescue S::NotTransferable => error
  puts error.message
end
p there.size("never")
there.put("there", :end)
