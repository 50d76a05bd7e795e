# What goes wrong with documents: what was delivered stands.
require "kumihimo/xml"
require "socket"
require "tempfile"

class Row < Kumihimo::XTree
  field :k, Integer
  field :v, optional: true
end

def try(source, path = "/t/r", **options)
  seen = []
  begin
    Kumihimo::XML.each(source, path, Row, **options) { |r| seen << r.k }
    puts "#{seen.inspect} no error"
  rescue Kumihimo::XML::Error => e
    puts "#{seen.inspect} #{e.class}: #{e.message.gsub(/127\.0\.0\.1:\d{2,}/, "SERVER")}"
    p [e.line, e.column, e.path]
  end
end

R = "<r><k>1</k></r><r><k>2</k></r>"
try "<t>#{R}</t>"
try "<t>#{R}"
try "<t>#{R}</x>"
try "<t>#{R}<r><k>3</k>\n</r></t><t/>"
try "<t>#{R}&nope;</t>"
try "<t>#{R}\u0001</t>"
try "<t>#{R}\xFF</t>".b
try "<t>#{R}<r><v>x</v></r></t>"
try "<t>#{R}<r><v>x</v></r></t>", lenient: true
try "<t>#{R}<r><k>3</k><k>4</k></r></t>"
try "<t>#{R}<r><k>3</k>#{'<x>' * 100}</r></t>", limits: { depth: 50 }
try "<t>#{R}<r><k>3</k><v>#{'y' * 1000}</v></r></t>", limits: { field: 500 }
try "<!DOCTYPE t [<!ENTITY a 'aaaaaaaaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;&b;&b;'><!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;'>]><t>#{R}<r><k>3</k><v>&d;</v></r></t>", limits: { entity_expansion: 100 }
try "<!DOCTYPE t [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><t>#{R}<r><k>3</k><v>&e;</v></r></t>"
try "/nonexistent/rows.xml"
try "/"
try "http://127.0.0.1:1/x", proxy: false, retries: 0

class Info < Kumihimo::XTree
  element "info"
  field :a
  list :rows, Row, element: "r"
  field :z, optional: true
end
begin
  Kumihimo::XML.parse("<other/>", Info).a
rescue Kumihimo::XML::ParseError => e
  puts e.message
end
info = Kumihimo::XML.parse("<info><a>x</a>#{R}<r>", Info)
p info.a
2.times do
  seen = []
  begin
    info.rows.each { |r| seen << r.k }
  rescue Kumihimo::XML::ParseError => e
    puts "#{seen} #{e.message}"
  end
end
begin
  info.z
rescue Kumihimo::XML::ParseError => e
  puts e.message
end
p info.rows.first.k, info.a
begin
  Kumihimo::XML.parse("<info>#{R}</info>", Info).a
rescue Kumihimo::XML::MissingFieldError => e
  puts e.message
end

# Servers that misbehave.
def serve(limit = 60)
  server = TCPServer.new("127.0.0.1", 0)
  thread = Thread.new do
    loop do
      c = server.accept
      nil until c.gets.to_s.strip.empty?
      yield c
      c.close
    rescue IOError, SystemCallError
    end
  end
  try "http://127.0.0.1:#{server.addr[1]}/x", proxy: false, retries: 0, read_timeout: limit
ensure
  thread.kill
  thread.join
  server.close
end
serve { |c| c << "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n<t>#{R}" }
# It ends when the client does.
serve(0.5) { |c| c << "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n<t>#{R}"; c.flush; c.read }
serve { |c| c << "HTTP/1.1 500 Oh no\r\nContent-Length: 3\r\n\r\nbad" }
serve { |c| c << "not http at all\r\n\r\n" }
serve { |c| c << "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello" }
GC.start
p Kumihimo::XML.stat.values_at(:open)
