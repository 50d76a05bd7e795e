# What suites of gems asked of the library.
require "date"
require "zlib"
require "stringio"
require "erb"
require "cgi/escape"
require "optparse"

# A date takes variables of its own.
class Stamp < DateTime
  attr_accessor :note
end
s = Stamp.new(2020, 1, 2, 3, 4, 5)
s.note = "n"
p s.note, s.frozen?, (s + 1).class, s.to_s

# A gzip header comes when content is in the stream, so that a writer which fails then loses none of it.
parts = []
io = Object.new
io.define_singleton_method(:write) { |x| parts << x; x.bytesize }
gz = Zlib::GzipWriter.new(io)
gz.write("foo")
p parts.map(&:size)
gz.flush
p Zlib::Inflate.new(Zlib::MAX_WBITS + 32).inflate(parts.join), parts.size
gz.finish
broken = Class.new do
  def got = @got ||= []
  def write(x)
    got << x
    raise IOError, "gone" if got.size == 1
    x.bytesize
  end
end.new
gz = Zlib::GzipWriter.new(broken)
begin
  gz.write("kept")
rescue IOError => e
  p e.message
end
gz.finish
p Zlib.gunzip(broken.got.join)
p Zlib::GzipReader.new(StringIO.new(parts.join)).read
p Zlib::GzipReader.new(StringIO.new(Zlib.gzip("é")), external_encoding: "iso-8859-1").read.encoding

# Escapes look at bytes where characters are broken.
p ERB::Util.html_escape("a<\xff>"), CGI.escapeHTML("\xff&"), ERB::Util.html_escape("é<").encoding

# Lines of help without a switch, and the switches that every parser has.
o = OptionParser.new("Usage: x")
o.on("-a", "--all", "everything")
o.on_tail
o.on_tail("Old ones:", "all of them")
o.on_tail("--old", "an old one")
puts o.help
p OptionParser::Officious.keys.grep(/^[a-z]/)
OptionParser::Officious.delete("version")
begin
  o.parse(%w[--version])
rescue OptionParser::InvalidOption => e
  p e.message
end
