# Round trips by DRb. Obeys lines on standard input as remote_client.rb does: call BYTES N: a method with so many bytes.
# write BYTES N, take BYTES N: Rinda's (fill BYTES N before a take, empty BYTES N after a write).
# usage: drb_client.rb URI
require "drb"
require "rinda/rinda"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

DRb.start_service("druby://127.0.0.1:0")
FRONT = DRbObject.new_with_uri(ARGV[0])
SPACE = Rinda::TupleSpaceProxy.new(FRONT.space)

def timed(n)
  times = Array.new(n) do
    from = now
    yield
    now - from
  end
  times.sort!
  [times[n / 2], times[n * 99 / 100], times.sum / n.to_f]
end

puts "ready"
$stdout.flush
while (line = $stdin.gets)
  word, bytes, n = line.split
  data = ("x" * Integer(bytes)).freeze
  n = Integer(n)
  figures =
    case word
    when "call" then timed(n) { FRONT.accept(data) }
    when "write" then timed(n) { SPACE.write([:q, data]) }
    when "take" then timed(n) { SPACE.take([:q, nil]) }
    when "fill" then [n.times { SPACE.write([:q, data]) }]
    when "empty" then [n.times { SPACE.take([:q, nil]) }]
    end
  puts figures.join(" ")
  $stdout.flush
end
exit!(0)
