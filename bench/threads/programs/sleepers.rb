# Figure 7's program: N threads that sleep. Prints "ready SECONDS" when all of them do; a line "join" on
# standard input wakes and joins them ("joined SECONDS"); the end of input ends the program.
# usage: sleepers.rb N
def now; Process.clock_gettime(Process::CLOCK_MONOTONIC); end
n = Integer(ARGV[0] || 1000)
from = now
threads = (0...n).map { Thread.new { sleep } }
threads.reverse_each { |t| sleep 0.001 until t.stop? }
puts "ready #{now - from}"
$stdout.flush
while (line = $stdin.gets)
  next unless line.start_with?("join")
  from = now
  threads.each(&:wakeup)
  threads.each(&:join)
  puts "joined #{now - from}"
  $stdout.flush
end
exit!(0)
