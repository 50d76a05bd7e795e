# nodes: 2
# A run has as many outputs to another node as to its own, up to a bound that it is told of.
require "kumihimo/segments"
S = Kumihimo::Segments
here = S.local
if S.node != "node1"
  here.take("end")
  exit
end
$stderr = File.open(File::NULL, "w")
two = S["node2"]

class Spread < Kumihimo::CodeSegment
  input :many, take: "many"
  def run = many.times { |i| put "out", i, on: "node2" }
end
class Deal < Kumihimo::CodeSegment
  input :many, take: "many", from: "node2"
  input :here, take: "here"
  def run = many.times { |i| put "key#{i}", i, on: "node2" }
end

def ends(segment)
  segment.start.join(timeout: 60)
  :done
rescue StandardError => error
  "#{error.class}: #{error.message}"
end

[256, 257, 5_000, 65_536].each do |many|
  here.put("many", many)
  puts "#{many}: #{ends(Spread)}, #{two.size("out")} in order: #{many.times.all? { |i| two.take?("out") == i }}"
end
here.put("many", 65_537)
puts ends(Spread), two.size("out"), here.take?("many")

two.put("many", 3_000)
here.put("here", 1)
p ends(Deal), 3_000.times.all? { |i| two.take?("key#{i}") == i }, two.size("many"), here.size("here")
two.put("many", 65_537)
here.put("here", 1)
puts ends(Deal), two.keys("key").size, two.take?("many"), here.take?("here")

# Its inputs there are fewer.
class Wide < Kumihimo::CodeSegment
  300.times { |i| input :"i#{i}", take: "i#{i}", from: "node2" }
  def run = nil
end
puts ends(Wide)
two.put("end", 1)
