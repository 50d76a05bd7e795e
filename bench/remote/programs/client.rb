# Calls an object of another node. Says "ready" and obeys lines on standard input, each answered by a line of figures in nanoseconds:
# call N: an Integer there, the next one back, one after the other: median, 99th percentile, mean. local N: the same of an object of this
# node, mean alone. futures N: N calls under way at a time; threads N T: by so many threads; both of one call, as a whole.
# usage: kumi node NAME --listen ADDR --join ADDR client.rb OWNER
require "kumihimo/remote"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

class Counter
  include Kumihimo::Remote
  def next(n) = n + 1
end

THERE = Kumihimo::Remote.find("counter", on: ARGV[0])
HERE = Kumihimo::Remote.export(Counter.new)

def call(n)
  times = Array.new(n, 0)
  n.times do |i|
    from = now
    THERE.next(i)
    times[i] = now - from
  end
  mean = times.sum / n.to_f
  times.sort!
  [times[n / 2], times[n * 99 / 100], mean]
end

def local(n)
  i = 0
  from = now
  while i < n
    HERE.next(i)
    i += 1
  end
  [(now - from) / n.to_f]
end

def futures(n)
  from = now
  all = Array.new(n) { |i| THERE.async.next(i) }
  sum = all.sum(&:value)
  raise "wrong" unless sum == n * (n + 1) / 2
  [(now - from) / n.to_f]
end

def threads(n, count)
  each = n / count
  from = now
  Array.new(count) { Thread.new { each.times { |i| THERE.next(i) } } }.each(&:join)
  [(now - from) / (each * count).to_f]
end

puts "ready"
$stdout.flush
while (line = $stdin.gets)
  word, *rest = line.split
  begin
    puts __send__(word, *rest.map { |w| Integer(w) }).join(" ")
  rescue StandardError => e
    puts "error #{e.class}: #{e.message.lines.first}"
  end
  $stdout.flush
end
exit!(0)
