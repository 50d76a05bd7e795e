# nodes: 2
# All keys of another node, or of a file, are told, however many they are.
require "kumihimo/segments"
require "tmpdir"
S = Kumihimo::Segments
if S.node != "node1"
  S.local.take("end")
  exit
end
two = S["node2"]
file = S.open(File.join(Dir.mktmpdir, "s.db"))

class Fill < Kumihimo::CodeSegment
  input :to, take: "fill"
  def run = 25_000.times { |i| put "key#{i}", i, on: to == "file" ? FILE : to }
end
FILE = file
S.local.put("fill", "node2")
S.local.put("fill", "file")
2.times { Fill.start.join }
expected = 25_000.times.map { |i| "key#{i}" }.sort
p two.keys == expected, two.keys("key1").size, two.keys("nothing"), file.keys == expected
# A page that is the last one, and full.
15_000.times { |i| two.take("key#{i + 10_000}") }
p two.keys.size, two.keys("key").last
two.put("end", 1)
