# nodes: 2
# A repetition that is stopped at any moment keeps nothing of what it waited for, and can be stopped while it is begun.
require "tmpdir"
require "kumihimo/segments"
S = Kumihimo::Segments
if S.node != "node1"
  S.local.take("end")
  exit
end
STORE = S.open(File.join(Dir.mktmpdir, "s.db"))
NODE = S["node2"]

class OfStore < Kumihimo::CodeSegment
  input :a, take: "a", from: STORE
  dead_letters "dead", tries: 1
  def run = raise("no")
end
class OfNode < Kumihimo::CodeSegment
  input :a, take: "a", from: NODE
  def run = put("dead", a, on: NODE)
end

$stderr = File.open(File::NULL, "w")
{ STORE => OfStore, NODE => OfNode }.each do |owner, code|
  late = 400.times.count do
    owner.put("a", 1)
    repetition = code.repeat
    owner.take("dead", timeout: 8)
    repetition.stop
    false
  rescue S::TimeoutError
    true
  end
  p late, owner.size("a"), owner.stat("a")[:leased]
end
3_000.times do
  one = OfStore.new
  stops = Thread.new { one.cancel }
  one.start
  stops.join
  one.cancel
end
p STORE.stat("a")[:waiting]
NODE.put("end", 1)
