# Rows of a path, and sources of every kind.
require "kumihimo/xml"
require "stringio"
require "tempfile"
require "pathname"
require "socket"
require "zlib"

class Row < Kumihimo::XTree
  field :k, Integer
  field :v
  field :region, attribute: "name", of: "region", optional: true
  field :day, of: "head", element: "date", optional: true
end

TEXT = "<?xml version='1.0'?>\n<t><head><date>today</date></head>" +
       %w[north south].map { |r| "<region name='#{r}'>" + (1..3).map { |i| "<row><k>#{i}</k><v>#{r[0]}#{i}</v></row>" }.join + "</region>" }.join + "</t>"

def sum(source, path = "//row", **options)
  all = []
  Kumihimo::XML.each(source, path, Row, **options) { |r| all << [r.k, r.v, r.region, r.day] }
  all
end
want = sum(TEXT)
p want
p sum(TEXT, "/t/region/row") == want, sum(TEXT, "/t/*/row") == want, sum(TEXT, "row") == want, sum(TEXT, "/t/row")
p sum(" \n\n\uFEFF").size rescue puts $!.class
p sum("\uFEFF" + TEXT) == want, sum(TEXT.encode("UTF-16")) == want, sum("\n" + TEXT.sub(/\A.*\n/, "")) == want
file = Tempfile.new("rows")
file.write(TEXT)
file.flush
p sum(file.path) == want, sum(Pathname.new(file.path)) == want, sum(File.new(file.path)) == want, sum(StringIO.new(TEXT)) == want
zipped = Tempfile.new("rows.gz")
zipped.binmode
zipped.write(Zlib.gzip(TEXT))
zipped.flush
p sum(zipped.path) == want

# An IO that has read ahead.
io = File.new(file.path)
io.gets
p sum(io) == want, io.closed?
r, w = IO.pipe
t = Thread.new { TEXT.each_char.each_slice(7) { |c| w << c.join; Thread.pass }; w.close }
p sum(r) == want
t.join
a, b = Socket.pair(:UNIX, :STREAM)
t = Thread.new { b << TEXT; b.close }
p sum(a) == want
t.join

class Reader
  def initialize(text) = @io = StringIO.new(text)
  def read(n) = @io.read([n, 11].min)
end
p sum(Reader.new(TEXT)) == want
class Broken
  def readpartial(n)
    @n = @n.to_i + 1
    raise IOError, "the tape is torn" if @n > 2
    TEXT.byteslice((@n - 1) * 120, 120)
  end
end
seen = []
begin
  Kumihimo::XML.each(Broken.new, "//row", Row) { |x| seen << x.v }
rescue IOError => e
  p seen, e.message
end

server = TCPServer.new("127.0.0.1", 0)
serving = Thread.new do
  loop do
    c = server.accept
    request = c.gets
    nil until c.gets.strip.empty?
    case request
    when /plain/ then c << "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: #{TEXT.bytesize}\r\nConnection: close\r\n\r\n#{TEXT}"
    when /chunked/
      c << "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
      TEXT.scan(/.{1,50}/m) { |piece| c << piece.bytesize.to_s(16) << "\r\n" << piece << "\r\n" }
      c << "0\r\n\r\n"
    when /gzip/
      body = Zlib.gzip(TEXT)
      c << "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: #{body.bytesize}\r\nConnection: close\r\n\r\n" << body
    when /away/ then c << "HTTP/1.1 302 Found\r\nLocation: /plain\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    else c << "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\nConnection: close\r\n\r\nNo houses"
    end
    c.close
  end
end
url = "http://127.0.0.1:#{server.addr[1]}"
%w[plain chunked gzip away].each { |path| p sum("#{url}/#{path}", proxy: false) == want }
begin
  sum("#{url}/none", proxy: false)
rescue Kumihimo::XML::HTTPError => e
  p e.status, e.reason, e.body, e.source.sub(/:\d+/, ""), e.message.gsub(/:\d+/, "")
end
serving.kill
server.close

# Policies give the same rows.
%i[adaptive paper small large].each { |b| p sum(TEXT, buffer: b) == want }
p sum(TEXT, buffer: 1) == want

# Pushed.
got = []
push = Kumihimo::XML::Push.new("//row", Row) { |x| got << [x.k, x.v, x.region, x.day] }
TEXT.each_char { |c| push << c }
p got == want
push.finish
p got.size
push = Kumihimo::XML::Push.new("//row", Row) { |x| got << x.k }
begin
  push << "<t><row><k>7</k><v/></row><row></t>"
rescue Kumihimo::XML::ParseError => e
  puts e.message
end
p got.last

# Lists of a path can be kept.
list = Kumihimo::XML.list(TEXT, "//row", Row)
p list.first(2).map(&:v), list.to_a.size, list.to_a.size, list.size
list = Kumihimo::XML.each(TEXT, "//row", Row)
p list.cut?, list.first.v
begin
  list.to_a
rescue Kumihimo::XTree::RemovedError => e
  puts e.message
end
