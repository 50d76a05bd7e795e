# N threads that sleep ten frames down, each frame with a local that a block has captured. With "procs" every
# frame also keeps its block as a Proc. Prints "ready" when all of them sleep; ends at the end of input.
# usage: deep_sleepers.rb N [blocks|procs]
n = Integer(ARGV[0] || 1000)
DEPTH = 10

def down(depth, sum)
  seen = sum + depth
  if depth > 1
    down(depth - 1, seen) { seen += 1 }
  else
    sleep
  end
  seen
end

def down_with_procs(depth, sum)
  seen = sum + depth
  more = -> { seen += 1 }
  if depth > 1
    down_with_procs(depth - 1, seen)
  else
    sleep
  end
  more.call
end

threads =
  if ARGV[1] == "procs" then (0...n).map { |i| Thread.new { down_with_procs(DEPTH, i) } }
  else (0...n).map { |i| Thread.new { down(DEPTH, i) { i } } }
  end
threads.reverse_each { |t| sleep 0.001 until t.stop? }
puts "ready"
$stdout.flush
$stdin.read
exit!(0)
