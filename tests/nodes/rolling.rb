# Puts and takes by a group while its nodes are restarted one by one; `stop` on standard input ends it. Says what was lost, what came
# twice, and whether anything took longer than two seconds, and than this process stood still.
S = Kumihimo::Segments
group = S.group("work", nodes: "node")
clock = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
still = 0.0
Thread.new do
  loop do
    since = clock.()
    sleep 0.05
    still = [still, clock.() - since - 0.05].max
  end
end
stop = false
acknowledged, got, slowest, errors = Queue.new, Queue.new, Queue.new, Queue.new
putters = 2.times.map do |t|
  Thread.new do
    n = 0
    until stop
      value = "#{t}.#{n += 1}"
      since = clock.()
      begin
        group.put("job.#{n % 20}", value)
        acknowledged << value
      rescue S::Error => error
        errors << error.class
      end
      slowest << clock.() - since
      sleep 0.005
    end
  end
end
takers = 20.times.map do |k|
  Thread.new do
    loop do
      since = clock.()
      got << group.take("job.#{k}", timeout: 8)
      slowest << clock.() - since
    rescue S::TimeoutError
      break if stop
    rescue S::Error => error
      errors << error.class
    end
  end
end
puts "goes"
$stdout.flush
gets
stop = true
[putters, takers].each { |threads| threads.each(&:join) }
all = ->(queue) { Array.new(queue.size) { queue.pop } }
acknowledged, got = all[acknowledged], all[got]
puts "lost: #{(acknowledged - got).size}"
puts "twice: #{got.size - got.uniq.size}"
puts "errors: #{all[errors].tally}"
puts "longer than 2 s: #{all[slowest].count { |long| long > 2 + still }}"
puts "some: #{got.size > 100}"
