# One node of a ring (the paper's example): what comes under "ring" goes on to the right. The first node obeys lines on standard input:
# laps BYTES N: a message goes round N times; prints nanoseconds of a hop: median, 99th percentile and mean of the laps'.
# segments BYTES N: the same by code segments that take and flip.
# usage: kumi node NAME --listen ADDR --join ADDR --await NODES ring.rb NODES first|next
require "kumihimo/segments"
require_relative "../../lib/obey"

NODES = Integer(ARGV[0])
Kumihimo::Segments.wait_for_nodes(NODES, timeout: 120)
RIGHT = Kumihimo.topology.right
DS = Kumihimo::Segments.local

# The code segments' way round.
class Passes < Kumihimo::CodeSegment
  input :message, take: "pass"
  def run = put("pass", message, on: RIGHT)
end
FIRST = ARGV[1] == "first"

def hops(n, &lap) = timed(n, &lap).map { |ns| ns / NODES.to_f }

key = DS.key("ring")
right = Kumihimo::Segments[RIGHT].key("ring")
Passes.repeat { false } unless FIRST
unless FIRST
  puts "ready"
  $stdout.flush
  loop { right.put(key.take) }
end
pass = Kumihimo::Segments[RIGHT].key("pass")
back = DS.key("pass")
obey do |word, bytes, n|
  message = ("x" * Integer(bytes)).freeze
  case word
  when "laps" then hops(Integer(n)) { right.put(message); key.take }
  when "segments" then hops(Integer(n)) { pass.put(message); back.take }
  else raise "no #{word}"
  end
end
