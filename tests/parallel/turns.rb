# Threads that hand work to and fro, threads that compute, threads that sleep, threads that only pass: all of them get on.
done = false
counts = Array.new(6, 0)
there, back = Queue.new, Queue.new
all = []
all << Thread.new { while (v = there.pop) do back << v end }
all << Thread.new { until done do there << 1; back.pop; counts[0] += 1 end; there.close }
2.times { |i| all << Thread.new { counts[1 + i] += 1 until done } }
all << Thread.new { until done do sleep 0.0005; counts[3] += 1 end }
all << Thread.new { until done do Thread.pass; counts[4] += 1 end }
all << Thread.new { until done do Thread.new { counts[5] += 1 }.join end }
4.times do
  seen = counts.dup
  Thread.pass until counts.each_with_index.all? { |n, i| n >= seen[i] + 3 }
  puts "all went on"
end
done = true
all.each(&:join)
puts there.empty?, back.empty?
