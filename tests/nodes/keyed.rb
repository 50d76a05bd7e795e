# nodes: 2
# Hashes and sets whose keys say by themselves where they belong, however they arrive.
S = Kumihimo::Segments
# Equal whatever the case of its letters.
Name = Data.define(:text) do
  def hash = text.downcase.hash
  def eql?(other) = other.is_a?(Name) && text.casecmp?(other.text)
  alias_method :==, :eql?
end
Broken = Data.define(:n) do
  def hash = S.node == "node1" ? n.hash : raise(ArgumentError, "no hash here")
end
def found(value) = [value[Name.new("ADA")], value[Name.new("bob")], value.frozen?]
def table = { Name.new("Ada") => 1, Name.new("Bob") => { Name.new("x") => 2 } }

if S.node == "node2"
  here = S.local
  there = S["node1"]
  $found = []
  # The whole segment.
  $found.push(here.take_segment("whole", timeout: 20).then { |s| [s.index, s.owned?, *found(s.value)] })
  $found.push(here.take_segment("whole", timeout: 20).then { |s| [s.index, s.owned?, *found(s.value)] })
  $found.push(found(here.peek_segment("peeked", timeout: 20).value), found(here.peek("peeked")), found(here.peek?("peeked")))
  # One that waits.
  waits = Thread.new { here.take_segment("waits", timeout: 20).value }
  Thread.pass until here.stat("waits")[:waiting] == 1
  there.put("waits?", 1)
  $found.push(found(waits.value))
  watch = here.watch("watched")
  there.put("watches?", 1)
  $found.push(found(watch.next(timeout: 20).value))
  # Inputs of a run.
  class Run < Kumihimo::CodeSegment
    input :a, take: "a"
    input :b, take: "b"
    def run = $found.push(found(a), found(b))
  end
  Run.start.join(timeout: 20)
  # Inputs of two nodes.
  class Two < Kumihimo::CodeSegment
    input :here, take: "here"
    input :there, take: "there", from: "node1"
    def run = $found.push(found(here), found(there))
  end
  Two.start.join(timeout: 20)
  $found.push(found(there.take_segment("other", timeout: 20).value), found(there.peek_segment("others", timeout: 20).value))
  # Keys that raise here.
  class Fails < Kumihimo::CodeSegment
    input :broken, take: "broken"
    dead_letters "dead"
    def run = $found.push(:never)
  end
  begin
    Fails.start.join(timeout: 20)
  rescue ArgumentError => error
    $found.push(error.message)
  end
  $found.push(here.stat("broken")[:leased], (here.take_segment("broken too", timeout: 20) rescue $!.class.name))
  there.put("end", $found)
else
  two = S["node2"]
  two.put("whole", table)
  two.put("whole", table, move: true)
  two.put("peeked", table)
  S.local.take("waits?", timeout: 20)
  two.put("waits", table)
  S.local.take("watches?", timeout: 20)
  two.put("watched", table)
  two.put("a", table)
  two.put("b", table, move: true)
  S.local.put("there", table, move: true)
  two.put("here", table)
  S.local.put("other", table)
  S.local.put("others", table)
  two.put("broken", { Broken.new(1) => 1 })
  two.put("broken too", { Broken.new(1) => 1 })
  puts S.local.take("end", timeout: 40).map(&:inspect)
end
