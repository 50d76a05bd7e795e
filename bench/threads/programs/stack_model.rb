# Table 2's programs: threads that sleep at a given depth of recursion. linear: thread i at 10 * i (i from 1).
# exponential: half of them at 10, a quarter at 20, ... and one at 10 * THREADS. none: no recursion, flat: all at
# depth 0. Each thread is started when the one before it sleeps. Prints "ready"; ends at the end of input.
# usage: stack_model.rb linear|exponential|flat [THREADS]
model = ARGV[0] || "linear"
n = Integer(ARGV[1] || 1024)

# Figure 9's method.
def recurse(n)
  if n > 0
    recurse(n - 1)
  else
    sleep
  end
end

depths =
  case model
  when "linear" then (1..n).map { |i| 10 * i }
  when "exponential"
    list = []
    share = n / 2
    depth = 10
    while share > 0
      list.concat([depth] * share)
      share /= 2
      depth *= 2
    end
    list << depth
  else [0] * n
  end
threads = depths.map do |depth|
  t = Thread.new { recurse(depth) }
  Thread.pass until t.stop?
  abort "thread at depth #{depth} ended" unless t.alive?
  t
end
puts "ready #{threads.size} #{depths.sum / [depths.size, 1].max}"
$stdout.flush
$stdin.read
exit!(0)
