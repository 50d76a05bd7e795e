# Values of every type, and texts that are none.
require "kumihimo/xml"
require "date"

class Part < Kumihimo::XTree
  field :no, Integer, attribute: true
  field :note, text: true
end

class Row < Kumihimo::XTree
  field :s
  field :i, Integer
  field :f, Float
  field :r, Rational
  field :d, Date
  field :t, Time
  field :y, Symbol
  field :b, :boolean
  field :x, Integer, optional: true
  field :z, Integer, default: -1
  field(:w) { |s| s.split }
  field(:h, Integer) { |n| n * 2 }
  field :c, ->(s) { s.to_i(16) }
  field :part, Part
end

TEXT = <<~X
  <table>
    <T><s>a &lt; b</s><i> 42 </i><f>1.5E3</f><r>12.50</r><d>2024-02-29</d><t>2024-02-29T12:30:00.5Z</t><y>red</y><b>true</b>
       <w>p q  r</w><h>21</h><c>ff</c><part no="7">seven<u>x</u>!</part><unknown>1</unknown></T>
    <T><part no="-8"/><i>123456789012345678901234567890</i><s></s><f>-INF</f><r>-.05</r><d>1500-01-01</d><t>2024-02-29T12:30:00+09:00</t><y/><b>0</b>
       <x>5</x><z>6</z><w/><h>+1</h><c>0</c></T>
  </table>
X

rows = Kumihimo::XML.list(TEXT, "/table/T", Row).to_a
rows.each do |r|
  p r.s, r.i, r.f, r.r, r.d, r.t, r.y, r.b, r.b?, r.x, r.z, r.w, r.h, r.c
  p r.part, r.part.no, r.part.note, r.part.equal?(r.part)
end
p rows[0].t.utc?, rows[1].t.utc_offset
p rows[0].frozen?, rows[0].s.frozen?, rows[0].s.equal?(rows[0].s), rows[0].s.encoding
p rows[0].position, rows[0].path, rows[1].path, rows[0].part.path, rows[0].part.position
p rows[0].to_h.keys, rows[0].to_h { |k, v| [k.to_s, v.class] }
case rows[0]
in { i: Integer => i, part: { no: } } then p i, no
end
p rows[0]
again = Kumihimo::XML.list(TEXT, "/table/T", Row).to_a
p again[0] == rows[0], again[0].eql?(rows[0]), again[0].hash == rows[0].hash, again[0] == rows[1], again[0].equal?(rows[0])
p({ rows[0] => 1 }[again[0]])

# Kept and direct elements are the same to the program.
direct = []
Kumihimo::XML.each(TEXT, "/table/T", Row) { |r| direct << r }
p direct == rows, direct[0].part == rows[0].part, direct.map(&:path), direct[0].part.position

class Bad < Kumihimo::XTree
  field :i, Integer, optional: true
  field :f, Float, optional: true
  field :r, :decimal, optional: true
  field :d, Date, optional: true
  field :t, Time, optional: true
  field :b, :boolean, attribute: true, optional: true
  field(:k, optional: true) { |s| Integer(s) }
  list :n, Integer
end
BAD = %(<Bad b="maybe"><i>1x</i><f>1,5</f><r>1/2</r><d>2024-02-30</d><t>noon</t><k>five</k><n>1</n><n>two</n><n>3</n></Bad>)
bad = Kumihimo::XML.parse(BAD, Bad)
%i[i f r d t b k].each do |name|
  bad.public_send(name)
rescue Kumihimo::XML::ConversionError => e
  puts e.message
  p [e.field, e.text, e.line, e.column, e.path, e.source, e.cause.class]
end
seen = []
begin
  bad.n.each { |n| seen << n }
rescue Kumihimo::XML::ConversionError => e
  puts e.message
end
p seen
p bad
begin
  bad.remove_i
rescue Kumihimo::XML::ConversionError
  p bad.inspect[0, 30]
end
p Kumihimo::XML.parse("<Bad/>", Bad).i

# A path begins with what the document's element is called there, whatever its class is called.
class Odd < Kumihimo::XTree
  field :i, Integer
  field :part, Part, optional: true
end
class Odds < Kumihimo::XTree
  field :i, Integer, optional: true
  list :odds, Odd, element: "odd"
end
ODD = '<even><i>one</i><part no="2"/></even>'
odd = Kumihimo::XML.parse(ODD, Odd)
p odd.path, odd.part.path
begin
  odd.i
rescue Kumihimo::XML::ConversionError => e
  puts e.message
end
odds = Kumihimo::XML.open("<q:all xmlns:q='u'><odd><i>one</i></odd></q:all>", Odds)
begin
  odds.odds.each(&:i)
rescue Kumihimo::XML::ConversionError => e
  p e.path
end
p odds.path, odds.odds.first.path
pushed = []
push = Kumihimo::XML::Push.new(nil, Odd) { |o| pushed << o }
ODD.each_char { |c| push << c }
push.finish
p pushed.map(&:path), Kumihimo::XML.parse("<#{'long' * 20}><i>1</i></#{'long' * 20}>", Odd).path

# Dumps.
copy = Marshal.load(Marshal.dump(rows))
p copy == rows, copy[0].part, copy[0].path
direct[0].remove_s
copy = Marshal.load(Marshal.dump(direct[0]))
begin
  copy.s
rescue Kumihimo::XTree::RemovedError => e
  puts e.message
end
p copy.i
begin
  Marshal.dump(bad)
rescue TypeError => e
  puts e.message
end
begin
  Marshal.dump([Kumihimo::XML.list("<t/>", "/t/r", Row)])
rescue TypeError => e
  puts e.message
end
begin
  rows[0].dup
rescue NoMethodError => e
  puts e.message
end
begin
  rows[0].instance_variable_set(:@a, 1)
rescue FrozenError => e
  puts e.class
end
