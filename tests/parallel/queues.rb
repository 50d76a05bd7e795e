# Queue and SizedQueue: each item reaches one consumer, in its producer's order.
T = 4
def run(q, items, producers, consumers)
  ps = producers.times.map { |t| Thread.new { items.times { |i| q << t * items + i } } }
  cs = consumers.times.map { Thread.new { mine = []; while (x = q.pop); mine << x; end; mine } }
  ps.each(&:join)
  q.close
  got = cs.map(&:value)
  ordered = got.all? { |m| m.group_by { |x| x / items }.values.all? { |v| v == v.sort } }
  [got.sum(&:size), got.flatten.sum, got.flatten.uniq.size, ordered]
end
p [:queue, run(Queue.new, 1500, T, T)]
p [:many, run(Queue.new, 40, 60, 60)]
p [:one_to_many, run(Queue.new, 4000, 1, 6)]
p [:many_to_one, run(Queue.new, 700, 6, 1)]
p [:sized, run(SizedQueue.new(1), 300, T, T)]
p [:sized_wide, run(SizedQueue.new(7), 800, T, T)]

# A ring of threads passes a token.
qs = Array.new(12) { Queue.new }
ts = 12.times.map { |i| Thread.new { n = 0; loop { x = qs[i].pop; n += 1; qs[(i + 1) % 12] << x + 1; break if x >= 1200 }; n } }
qs[0] << 0
p [:ring, ts.sum(&:value)]

# Ping-pong.
a, b = Queue.new, Queue.new
t = Thread.new { while (x = a.pop); b << x * 2; end }
s = 0
1500.times { |i| a << i; s += b.pop }
a.close
t.join
p [:ping_pong, s]

# Non-blocking and timed pops.
q = Queue.new
got = Queue.new
ts = 5.times.map { |t| Thread.new { n = 0; until n == 100; begin; got << q.pop(true); n += 1; rescue ThreadError; Thread.pass; end; end } }
500.times { |i| q << i }
ts.each(&:join)
p [:non_block, got.size, q.size]
ts = 5.times.map { Thread.new { 10.times.count { q.pop(timeout: 0.001).nil? } } }
p [:timeouts, ts.sum(&:value)]
sq = SizedQueue.new(2)
ts = 5.times.map { |t| Thread.new { 10.times.count { sq.push(t, timeout: 0.001).nil? } } }
p [:push_timeouts, ts.sum(&:value), sq.size]

# close wakes all that wait.
q = Queue.new
ts = 20.times.map { Thread.new { q.pop } }
Thread.pass until q.num_waiting == 20
q.close
p [:closed, ts.map(&:value).uniq, q.closed?]
sq = SizedQueue.new(1)
sq << 0
ts = 10.times.map { Thread.new { begin; sq << 1; :in; rescue ClosedQueueError; :closed; end } }
Thread.pass until sq.num_waiting == 10
sq.close
p [:closed_sized, ts.map(&:value).uniq]

# Killed consumers take nothing with them.
q = Queue.new
ts = 30.times.map { Thread.new { q.pop; Thread.stop } }
Thread.pass until q.num_waiting == 30
ts.each_slice(2) { |x, _| x.kill }
ts.each_slice(2) { |x, _| x.join }
15.times { |i| q << i }
sleep 0.001 until q.empty?
rest = ts.each_slice(2).map(&:last)
sleep 0.001 until q.num_waiting == 0
p [:killed, q.size, rest.count(&:alive?)]
rest.each(&:kill).each(&:join)

# A pipeline of stages.
stages = Array.new(5) { SizedQueue.new(3) }
ws = 4.times.map { |i| Thread.new { while (x = stages[i].pop); stages[i + 1] << x + 1; end; stages[i + 1].close } }
feed = Thread.new { 600.times { |i| stages[0] << i }; stages[0].close }
out = []
while (x = stages[4].pop); out << x; end
[feed, *ws].each(&:join)
p [:pipeline, out == (4...604).to_a]

# Fan-out and fan-in with clear and length read beside it.
q = Queue.new
done = false
look = Thread.new { n = 0; until done; n += 1 if q.size < 0 || q.num_waiting < 0; q.empty?; q.length; Thread.pass; end; n }
p [:looked, run(q, 400, 3, 3)]
done = true
p look.value
