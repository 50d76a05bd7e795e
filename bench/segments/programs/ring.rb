# One node of a ring (the paper's example): what comes under "ring" goes on to the right. The first node obeys lines on standard input:
# laps BYTES N: a message goes round N times; prints nanoseconds of a hop: median, 99th percentile and mean of the laps'.
# segments BYTES N: the same by code segments that take and flip.
# usage: kumi node NAME --listen ADDR --join ADDR --await NODES ring.rb NODES first|next
require "kumihimo/segments"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

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

def timed(n)
  times = Array.new(n) do
    from = now
    yield
    (now - from) / NODES.to_f
  end
  times.sort!
  [times[n / 2], times[n * 99 / 100], times.sum / n]
end

key = DS.key("ring")
right = Kumihimo::Segments[RIGHT].key("ring")
Passes.repeat { false } unless FIRST
puts "ready"
$stdout.flush
unless FIRST
  loop { right.put(key.take) }
end
pass = Kumihimo::Segments[RIGHT].key("pass")
back = DS.key("pass")
while (line = $stdin.gets)
  word, bytes, n = line.split
  message = ("x" * Integer(bytes)).freeze
  begin
    figures =
      case word
      when "laps" then timed(Integer(n)) { right.put(message); key.take }
      when "segments" then timed(Integer(n)) { pass.put(message); back.take }
      else raise "no #{word}"
      end
    puts figures.join(" ")
  rescue StandardError => e
    puts "error #{e.class}: #{e.message.lines.first}"
  end
  $stdout.flush
end
exit!(0)
