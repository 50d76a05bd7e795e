# One thread sleeps 1 ms again and again while BURNERS threads compute without a pause; prints how late it ran, in
# microseconds: median, 99th percentile, longest.
# usage: fairness.rb BURNERS SECONDS
def now; Process.clock_gettime(Process::CLOCK_MONOTONIC); end
burners = Integer(ARGV[0] || 2)
seconds = Float(ARGV[1] || 1)
done = false
burners.times { Thread.new { x = 1; x = (x * 3 + 1) & 0xffff until done } }
late = []
sleeper = Thread.new do
  stop = now + seconds
  while (from = now) < stop
    sleep 0.001
    late << (now - from - 0.001) * 1e6
  end
end
sleeper.join
done = true
late.sort!
puts "#{late[late.size / 2].round(1)} #{late[late.size * 99 / 100].round(1)} #{late[-1].round(1)} #{late.size}"
$stdout.flush
exit!(0)
