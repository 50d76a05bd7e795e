# Where documents end, what their errors tell, what readers hold.
require "kumihimo/xml"
require "socket"
require "timeout"
require "zlib"
require "stringio"

class Part < Kumihimo::XTree
  field :id, Integer
end
class Parts < Kumihimo::XTree
  list :parts, Part, element: "part"
end
class Tags < Kumihimo::XTree
  list :tags, Integer, element: "tag"
end
WHOLE = "<d><part><id>1</id></part></d>"

def failure
  yield
rescue Kumihimo::XML::Error, KeyError => e
  e
end
# An answer of a server; what the block gives is its value.
def serve(head, body, hold: false)
  server = TCPServer.new("127.0.0.1", 0)
  thread = Thread.new do
    c = server.accept
    c.gets("\r\n\r\n")
    c.write "HTTP/1.1 200 OK\r\n#{head}\r\n", body
    hold ? c.read : c.close
    :closed
  end
  ["http://127.0.0.1:#{server.addr[1]}/", thread]
end

# Behind the root stand comments and white space, nothing else: of a text, a pipe, a list that is cut, a path.
e = failure { Kumihimo::XML.parse("#{WHOLE} junk", Parts).parts.to_a }
p e.class, e.line, e.column
e = failure { Kumihimo::XML.parse("#{WHOLE}<d/>", Parts).remove_parts.to_a }
p e.class
r, w = IO.pipe
w << WHOLE << "junk"
w.close
p failure { Kumihimo::XML.open(r, Parts).parts.to_a }.class
p Kumihimo::XML.parse("#{WHOLE}\n<!-- end -->\n", Parts).parts.map(&:id).to_a
p failure { Kumihimo::XML.parse("<part><id>1</id></part>x", Part).id }.class

# What was announced must come.
url, = serve("Content-Length: 400\r\n", WHOLE)
e = failure { Kumihimo::XML.open(url, Parts, retries: 0).parts.to_a }
p e.class, e.line, e.column, e.message[/\d+ bytes before the announced end/]
url, = serve("Content-Length: 400\r\n", "<d>\n<part><id>1</id></part>")
e = failure { Kumihimo::XML.open(url, Parts, retries: 0).parts.to_a }
p e.line, e.column, e.path

# A document that was read to its end lets go of its connection, although the peer holds it.
url, thread = serve("", WHOLE, hold: true)
doc = Kumihimo::XML.open(url, Parts)
p doc.parts.map(&:id).to_a, thread.join(60)&.value, Kumihimo::XML.stat(doc)[:open]
r, w = IO.pipe
w << WHOLE
doc = Kumihimo::XML.open(r, Parts)
p doc.parts.map(&:id).to_a
r.close
begin
  w << "more"
  w.flush
rescue Errno::EPIPE
  puts "nobody reads the pipe any more"
end

# What is pushed behind the root is refused when it comes.
ids = []
push = Kumihimo::XML::Push.new("/d/part", Part) { |part| ids << part.id }
push << WHOLE
p failure { push << "junk"; push.finish }.class, ids

# A text of a list that is no value: where it stands, and which element it is.
e = failure { Kumihimo::XML.parse("<d>\n<tag>1</tag><tag>x</tag></d>", Tags).tags.to_a }
p e.class, e.line, e.column, e.path, e.field, e.text
reader = Kumihimo::XML.parse("<d><tag>1</tag><tag>2</tag><tag>y</tag></d>", Tags).tags.reader
p reader.next, reader.next, failure { reader.next }.path
lines = "<d>\n#{(1..200).map { |i| "  <tag>#{i == 150 ? "x" : i}</tag>\n" }.join}</d>"
place = ->(e) { [e.line, e.column, e.path, e.message[/\A\S+/]] }
p place[failure { Kumihimo::XML.parse(lines, Tags).tags.to_a }]
p place[failure { Kumihimo::XML.parse(lines, Tags).remove_tags.to_a }]
p place[failure { tags = Kumihimo::XML.parse(lines, Tags).tags; tags.count { true } rescue tags.each { nil } }]
reader = Kumihimo::XML.parse(lines, Tags).tags.reader
p place[failure { loop { reader.take_batch(1000) } }]
p place[failure { Kumihimo::XML.parse(lines, Tags).tags.join([1], on: :itself).to_a }]
p place[failure { Kumihimo::XML.open(StringIO.new(lines), Tags).tags.each { nil } }]
# One that was on disk: where the element stands that has it.
class Many < Kumihimo::XTree
  field :id, Integer
  list :tags, Integer, element: "tag"
end
many = "<d>\n#{(1..9).map { |i| "<many><id>#{i}</id>\n<tag>#{i == 5 ? "y" : i}</tag></many>\n" }.join}</d>"
p place[failure { Kumihimo::XML.list(many, "/d/many", Many).each { |e| e.tags.to_a } }]
p place[failure { Kumihimo::XML.list(many, "/d/many", Many).sort_by(:id, rows: 2).each { |e| e.tags.to_a } }]

# A reader holds what is before it, not what it has passed.
passed = WeakRef rescue require("weakref")
reader = Kumihimo::XML.parse("<d>#{"<part><id>1</id></part>" * 5000}</d>", Parts).parts.reader
4999.times { reader.next }
GC.start
p Kumihimo::XML.stat[:kept] < 1000, reader.next.id

# Endless members without content end with the time that the whole may take.
empty = Zlib.gzip("") * 500
[IO.pipe, UNIXSocket.pair].each do |r, w|
  feeder = Thread.new { loop { w << empty } rescue nil }
  e = failure { Timeout.timeout(60) { Kumihimo::XML.open(r, Parts, timeout: 0.5).parts.to_a } }
  p e.class
  r.close
  feeder.join
end

# Every name of a flow is free on every operator.
hidden = ObjectSpace.each_object(Class).select { |c| c < Kumihimo::Flow::Operator || c.include?(Kumihimo::Flow) }
public_names = Kumihimo::Flow.public_instance_methods(false)
p hidden.flat_map { |c| (c.private_instance_methods & public_names).map { |m| "#{c}##{m}" } }
p Kumihimo.flow([3, 1]).sort.merge([2]).to_a

# A misspelt key is an error, a default is a value.
p failure { Kumihimo.flow([{ id: 1 }]).join([{ id: 1 }], on: :idd).to_a }.message
p failure { Kumihimo.flow([{ "id" => 1 }]).group_by("idd").to_a }.class
p Kumihimo.flow([Hash.new(7), { id: 8 }]).sort_by(:id).map { |h| h[:id] }.to_a
p Kumihimo.flow([{ id: nil }, { id: 1 }]).join([{ id: nil }, { id: 1 }], on: :id).count
