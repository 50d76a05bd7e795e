# nodes: 3
# A run whose values can't travel does nothing, and loses nothing: what it took comes back, or is a dead letter.
require "tmpdir"
require "kumihimo/remote"
S = Kumihimo::Segments
here = S.local
if S.node != "node1"
  here.take("end")
  exit
end
$stderr = File.open(File::NULL, "w")
two, three = S["node2"], S["node3"]
store = STORE = S.open(File.join(Dir.mktmpdir, "s.db"))

def ends(segment)
  segment.start.join(timeout: 60)
  :done
rescue StandardError => error
  [error.class, error.message]
end

# Outputs to several owners, one of which can't go.
class Spread < Kumihimo::CodeSegment
  input :a, take: "a", from: "node2"
  input :b, take: "b", from: "node3"
  input :c, take: "c"
  def run
    put "x", 1, on: "node2"
    put "y", 2
    put "z", Comparable, on: "node3"
  end
end
class FromHere < Kumihimo::CodeSegment
  input :c, take: "c"
  def run = [["x", 1, "node2"], ["z", Comparable, "node3"]].each { |key, value, node| put key, value, on: node }
end
two.put("a", 1)
three.put("b", 2)
here.put("c", 3)
p ends(Spread), ends(FromHere)
p [two.take?("x"), here.take?("y"), three.take?("z")], [two.take?("a"), three.take?("b"), here.take?("c")]

# What a run has made of an owned input can't travel back, and then not on.
ACTS = {
  "changed" => -> { part << Mutex.new and raise "no" },
  "flipped" => -> { part << Mutex.new and flip :part, to: "on" },
  "too large" => -> { part << "x" * (65 << 20) and raise "no" }
}.freeze
{ "a node" => two, "a file" => store }.each do |where, manager|
  ACTS.each do |what, act|
    [nil, 1].each do |tries|
      manager.put("part", [1, 2], move: true)
      made = Class.new(Kumihimo::CodeSegment) do
        input :part, take: "part", from: manager
        dead_letters "dead", tries: tries if tries
        define_method(:run) { instance_exec(&act) }
      end
      failed = ends(made)
      back = manager.take_segment("part", timeout: 0) rescue nil
      letter = manager.take?("dead") || here.take?("dead")
      letter = letter[:inputs][:part].then { |part| part.is_a?(Array) ? "whole" : part } if letter
      puts "#{where}, #{what}: #{failed}; back #{back && [back.value, back.changed?]}, letter #{letter.inspect}, leased #{manager.stat("part")[:leased]}"
    end
  end
end

# A dead letter that can't go whole to who asks for it.
class Mixed < Kumihimo::CodeSegment
  input :x, take: "x"
  input :y, take: "y"
  input :z, take: "z", from: STORE
  dead_letters "dead"
  def run = raise "no"
end
here.put("x", Comparable)
here.put("y", [1])
store.put("z", 3)
p ends(Mixed), store.take("dead", timeout: 20), here.size("x"), store.size("z")

# A reference goes to a node, and to no file.
class Stays
  include Kumihimo::Remote
end
class Refers < Kumihimo::CodeSegment
  input :a, take: "a", from: "node2"
  input :z, take: "z", from: STORE
  def run = put("w", Stays.new, on: STORE)
end
two.put("a", 1)
store.put("z", 3)
p ends(Refers)[0], two.take?("a"), store.take?("z"), store.size("w")
two.put("end", 1)
three.put("end", 1)
