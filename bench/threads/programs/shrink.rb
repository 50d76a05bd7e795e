# THREADS threads recurse DEPTH deep, all at once, wait there for each other, return and sleep near the bottom of
# their stacks. Prints "deep" when all are down, then (after a line on standard input) "ready" when all
# are back and sleep. Ends at the end of input.
# usage: shrink.rb THREADS DEPTH
n = Integer(ARGV[0] || 1024)
depth = Integer(ARGV[1] || 10_240)
GATE = Queue.new
BACK = Queue.new

def recurse(n)
  if n > 0
    recurse(n - 1)
  else
    GATE.pop
  end
  nil
end

threads = Array.new(n) do
  Thread.new do
    recurse(depth)
    BACK << 1
    sleep
  end
end
threads.reverse_each { |t| sleep 0.001 until t.stop? }
abort "a thread ended: #{threads.find { |t| !t.alive? }.inspect}" unless threads.all?(&:alive?)
puts "deep"
$stdout.flush
$stdin.gets
n.times { GATE << 1 }
n.times { BACK.pop }
threads.reverse_each { |t| sleep 0.001 until t.stop? }
puts "ready"
$stdout.flush
$stdin.read
exit!(0)
