# Two threads look until something is there and take it: nothing is lost, doubled or out of order, and what others see of a
# queue meanwhile is what it can hold.
def await(queue)
  Thread.pass while queue.empty?
  queue.pop
end
[1, 3, 6].each do |burst|
  there, back = Queue.new, Queue.new
  done = false
  watch = Thread.new do
    fine = true
    until done
      n = there.size
      fine &&= n >= 0 && n <= burst
      Thread.pass
    end
    fine
  end
  echo = Thread.new { 300.times { burst.times { back << await(there) } } }
  right = 0
  300.times do |i|
    burst.times { |k| there << (k.even? ? [i, k] : i * 10 + k) }
    burst.times { |k| right += 1 if await(back) == (k.even? ? [i, k] : i * 10 + k) }
  end
  echo.join
  done = true
  p [right, watch.value, there.empty?, back.empty?]
end
# several takers poll without waiting, several wait
q = Queue.new
got = Array.new(4) { [] }
takers = 4.times.map do |t|
  Thread.new do
    loop do
      v = t.even? ? q.pop : (q.empty? ? (Thread.pass; next) : begin q.pop(true) rescue next end)
      break if v == :end
      got[t] << v
    end
  end
end
givers = 3.times.map { |g| Thread.new { 200.times { |i| q << [g, i]; Thread.pass if i % 7 == 0 } } }
givers.each(&:join)
4.times { q << :end }
takers.each(&:join)
p got.sum(&:size), got.flatten(1).uniq.size, q.empty?
p got.all? { |l| l.group_by(&:first).values.all? { |v| v == v.sort } }
