# What programs that are measured have in common: they obey lines on standard input, each answered by a line of figures. Any Ruby runs it.

# Nanoseconds of the clock.
def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

# Each call of the block by the clock: the median, the 99th percentile and the mean, in nanoseconds.
def timed(n)
  times = Array.new(n, 0)
  n.times do |i|
    from = now
    yield i
    times[i] = now - from
  end
  figures_of(times)
end

def figures_of(times)
  mean = times.sum / times.size.to_f
  times.sort!
  [times[times.size / 2], times[times.size * 99 / 100], mean]
end

# Nanoseconds of one of n, as a whole.
def whole(n)
  from = now
  yield
  [(now - from) / n.to_f]
end

# Says "ready". Each line's words go to the block, which gives figures. Ends the process.
def obey
  $stdout.sync = true
  puts "ready"
  while (line = $stdin.gets)
    begin
      puts yield(*line.split).join(" ")
    rescue StandardError => e
      puts "error #{e.class}: #{e.message.lines.first}"
    end
  end
  exit!(0)
end
