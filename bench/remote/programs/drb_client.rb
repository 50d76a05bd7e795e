# Calls by DRb. Obeys lines on standard input as client.rb does: call N. usage: drb_client.rb URI
require "drb"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

DRb.start_service("druby://127.0.0.1:0")
FRONT = DRbObject.new_with_uri(ARGV[0])
puts "ready"
$stdout.flush
while (line = $stdin.gets)
  n = Integer(line.split[1])
  times = Array.new(n) do |i|
    from = now
    FRONT.next(i)
    now - from
  end
  times.sort!
  puts [times[n / 2], times[n * 99 / 100], times.sum / n.to_f].join(" ")
  $stdout.flush
end
exit!(0)
