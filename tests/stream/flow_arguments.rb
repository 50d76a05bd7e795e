# Arguments that an operator cannot use are refused by name: none of them silently gives an empty flow.
require "kumihimo/xml"

def told(what)
  puts "#{what}: #{yield.inspect}"
rescue StandardError => error
  puts "#{what}: #{error.class}: #{error.message}"
end

puts "-- without a block"
PAIRS = Kumihimo.flow([[1, 2], [3, nil]])
%i[map collect select filter reject filter_map flat_map collect_concat take_while drop_while list_map].each { |name| told(name) { PAIRS.public_send(name).to_a } }
told("with_index") { PAIRS.with_index(1).map { |(a, _), at| a * at }.to_a }
told("each") { PAIRS.each.next }

puts "-- keys that elements do not have"
class Fielded
  def initialize(fields) = @fields = fields
  def [](name) = @fields[name]
  def key?(name) = @fields.key?(name)
end
[7, -3, 1, -1].each do |key|
  told("join #{key}") { PAIRS.join([[1, 2]], on: key).to_a }
  told("group_by #{key}") { PAIRS.group_by(key).to_a }
end
told("sort_by") { PAIRS.sort_by(7).to_a }
told("sort") { PAIRS.sort(7).to_a }
told("top") { PAIRS.top(1, 7).to_a }
told("distinct") { PAIRS.distinct(7).to_a }
told("distinct, two fields") { PAIRS.distinct([0, 7]).to_a }
told("list_map") { PAIRS.list_map(7) { 1 }.to_a }
told("merge") { PAIRS.merge([[1]], by: 7).to_a }
told("range") { PAIRS.join([[1, 2]], range: [0, 7]).to_a }
told("lines of text") { Kumihimo.flow(["id,name", "1,Aki"]).join(["1,2"], on: "id").to_a }
told("a long line") { Kumihimo.flow(["x" * 1000]).distinct("id").to_a }
told("a String") { Kumihimo.flow(%w[ab cd]).group_by(0).to_a }
told("a String, by number") { Kumihimo.flow(%w[ab cd]).group_by(5).to_a }
told("MatchData") { Kumihimo.flow(["ab".match(/(a)(x)?/)]).group_by(2).map(&:first).to_a }
told("MatchData, too far") { Kumihimo.flow(["ab".match(/(a)(x)?/)]).group_by(3).to_a }
told("with key?") { Kumihimo.flow([Fielded.new({ "a" => 1, "b" => nil })]).group_by("b").map(&:first).to_a }
told("with key?, none") { Kumihimo.flow([Fielded.new({ "a" => 1 })]).group_by("b").to_a }
told("a proc") { PAIRS.join([[1, 2]], on: ->(pair) { pair[7] }).to_a }

puts "-- keys that are never equal"
ROWS = [{ a: 1, b: 2 }].freeze
[:join, :merge_join, :asof_join].each { |name| told(name) { Kumihimo.flow(ROWS).public_send(name, ROWS, on: [%i[a b], [:a]]).to_a } }
told("by") { Kumihimo.flow(ROWS).asof_join(ROWS, on: :a, by: [%i[a b], [:a]]).to_a }
told("by, three") { Kumihimo.flow(ROWS).asof_join(ROWS, on: :a, by: %i[a b c]).to_a }
told("a value of two") { Kumihimo.flow(ROWS).join([{ pair: [1, 2] }], on: [%i[a b], :pair]).to_a }

puts "-- conditions, operators and codecs"
[5, false, :==].each { |where| told("where") { PAIRS.join([1], where: where).to_a } }
told("where beside on") { PAIRS.join([[1, 2]], on: 0, where: "x").to_a }
[5, nil, String, Comparable, Kumihimo::Operators::Map.new([], nil)].each { |operator| told("through") { PAIRS.through(operator).to_a } }
told("through") { PAIRS.through(Kumihimo::Flow::Operator).to_a }
%i[sort distinct union].each { |name| told(name) { PAIRS.public_send(name, *([] if name == :union), rows: 1, codec: 5).to_a } }
told("group_by") { PAIRS.group_by(0, codec: "Marshal") }
told("join") { PAIRS.join([[1]], on: 0, codec: Object) }
told("intersect") { PAIRS.intersect([[1]], codec: 5) }
told("except") { PAIRS.except([[1]], all: true, codec: 5) }
told("no codec") { PAIRS.sort_by(0, rows: 1, codec: nil).to_a }

puts "-- documents"
Row = Class.new(Kumihimo::XTree) { field :a }
%w[ftp://host/x gopher://host/x file:///tmp/x s3+x://y].each { |source| told("open") { Kumihimo::XML.open(source, Row).a } }
told("list") { Kumihimo::XML.list("FTP://host/x", "//a", Row).to_a }
begin
  Kumihimo::XML.open("ftp://host/x", Row)
rescue Kumihimo::XML::SourceError => error
  p error.source
end
told("twice") { Class.new(Kumihimo::XTree) { 2.times { field :a } } }
told("twice") { Class.new(Kumihimo::XTree) { field :a; list :a } }
told("late") { Kumihimo::XML.parse("<a><a>1</a></a>", Row).a; Row.field :b }
told("late") { Class.new(Row); Row.element "x" }
told("late") { made = Class.new(Kumihimo::XTree); Class.new(made); made.field :b }
