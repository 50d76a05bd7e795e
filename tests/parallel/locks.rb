# Mutex, Monitor, ConditionVariable: nothing counted twice or lost.
require "monitor"
def together(n)
  go = false
  ts = n.times.map { |i| Thread.new { Thread.pass until go; yield i } }
  go = true
  ts.map(&:value)
end
T = 6

class Counter
  include Comparable
  attr_reader :n
  def initialize = (@n = 0; @m = Mutex.new)
  def up = @m.synchronize { @n += 1 }
  def slow_up = @m.synchronize { x = @n; Thread.pass if x % 50 == 0; @n = x + 1 }
  def <=>(o) = n <=> o.n
end
a, b = Counter.new, Counter.new
together(T) { |t| 500.times { a.up; b.slow_up } }
p [:mutex, a.n, b.n, a == b, a.clamp(a, b).n]

m = Mutex.new
n = 0
together(T) { 300.times { until m.try_lock; Thread.pass; end; n += 1; m.unlock } }
p [:try_lock, n, m.locked?]
n = 0
inside = 0
worst = 0
together(T) { 200.times { m.lock; begin; inside += 1; worst = inside if inside > worst; n += 1; inside -= 1; ensure; m.unlock; end } }
p [:alone, n, worst]

mon = Monitor.new
n = 0
together(T) { 200.times { mon.synchronize { mon.synchronize { x = n; Thread.pass if x % 97 == 0; n = x + 1 } } } }
p [:monitor, n]
class Account
  include MonitorMixin
  attr_reader :sum
  def initialize = (super(); @sum = 0)
  def add(x) = synchronize { @sum += x }
  def twice(x) = synchronize { add(x); add(x) }
end
acc = Account.new
together(T) { |t| 150.times { acc.twice(1); acc.add(-1) } }
p [:mixin, acc.sum]

# Transfers between accounts, locked in order.
accounts = Array.new(8) { [Mutex.new, 100] }
together(T) do |t|
  r = Random.new(t)
  300.times do
    i, j = [r.rand(8), r.rand(8)].sort
    next if i == j
    accounts[i][0].synchronize { accounts[j][0].synchronize { accounts[i][1] -= 1; accounts[j][1] += 1 } }
  end
end
p [:transfers, accounts.sum { |x| x[1] }]

# A bounded buffer of a Mutex and two condition variables.
class Buffer
  def initialize(max) = (@max = max; @q = []; @m = Mutex.new; @full = ConditionVariable.new; @empty = ConditionVariable.new)
  def put(x)
    @m.synchronize { @full.wait(@m) while @q.size >= @max; raise "over" if @q.size > @max; @q << x; @empty.signal }
  end
  def get
    @m.synchronize { @empty.wait(@m) while @q.empty?; x = @q.shift; @full.signal; x }
  end
end
buf = Buffer.new(3)
got = together(T) { |t| t < 3 ? (250.times { |i| buf.put(t * 250 + i) }; []) : 250.times.map { buf.get } }.flatten
p [:buffer, got.size, got.uniq.size, got.sum]

# Broadcast wakes all; a timed wait ends by itself.
m, c = Mutex.new, ConditionVariable.new
ready = go = 0
ts = 20.times.map { Thread.new { m.synchronize { ready += 1; c.wait(m) until go == 1; ready -= 1 } } }
Thread.pass until m.synchronize { ready == 20 }
m.synchronize { go = 1; c.broadcast }
ts.each(&:join)
p [:broadcast, ready]
r = together(T) { 5.times.map { m.synchronize { c.wait(m, 0.002); m.owned? } } }
p [:timed, r.flatten.tally]

# A barrier, many times over.
class Barrier
  def initialize(n) = (@n = n; @in = 0; @round = 0; @m = Monitor.new; @c = @m.new_cond)
  def wait
    @m.synchronize do
      r = @round
      if (@in += 1) == @n
        @in = 0; @round += 1; @c.broadcast
      else
        @c.wait_while { r == @round }
      end
      @round
    end
  end
end
bar = Barrier.new(4)
steps = Array.new(4) { 0 }
bad = 0
together(4) { |t| 60.times { steps[t] += 1; bar.wait; bad += 1 if steps.uniq.size != 1; bar.wait } }
p [:barrier, bad, steps]

# Errors of use.
errs = together(T) { [-> { m.unlock }, -> { m.lock; begin; m.lock; ensure; m.unlock; end }].map { |x| begin; x.call; rescue ThreadError => e; e.class; end } }
p [:errors, errs.flatten.tally]
h = Hash.new { |k, v| v }
rec = Mutex.new
p [:owned, together(T) { rec.synchronize { rec.owned? && rec.locked? } }.all?]
th = Thread.new { rec.lock; Thread.stop }
Thread.pass until th.stop?
th.kill
th.join
p [:freed_by_death, rec.try_lock]
