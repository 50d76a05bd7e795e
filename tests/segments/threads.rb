# Many threads at one key; threads that are killed, interrupted, run out of time while they wait. No segment is lost.
require "kumihimo/segments"
require "timeout"
DS = Kumihimo::Segments.local
S = Kumihimo::Segments
CodeSegment = Kumihimo::CodeSegment
SEED = Integer(ENV.fetch("KUMI_TEST_SEED", "1"), 10)
$stderr = File.open(File::NULL, "w")

def tell(label)
  value = yield
  puts "#{label}: #{value.inspect.gsub(/0x\h+/, "0x")}"
rescue Exception => e
  puts "#{label}: #{e.class}: #{e.message.gsub(/0x\h+/, "0x")}"
end
def until_waiting(key, count)
  Thread.pass until DS.stat(key)[:waiting] >= count
end

puts "-- each segment is taken once"
[[1, 1], [4, 1], [1, 4], [4, 4]].each do |putters, takers|
  each = 400
  puts_ = Array.new(putters) { |i| Thread.new { each.times { |n| DS.put("race", [i, n]) } } }
  takes = Array.new(takers) { Thread.new { Array.new(each * putters / takers) { DS.take("race") } } }
  puts_.each(&:join)
  got = takes.map(&:value)
  in_order = got.all? { |l| l.group_by(&:first).all? { |_, of| of.map(&:last).each_cons(2).all? { |a, b| a < b } } }
  tell("#{putters} put, #{takers} take") { [got.flatten(1).sort == (0...putters).flat_map { |i| (0...each).map { |n| [i, n] } }, in_order, DS.size("race")] }
end
tell("one counter, many threads") do
  DS.put("counter", 0)
  Array.new(8) { Thread.new { 200.times { DS.put("counter", DS.take("counter") + 1) } } }.each(&:join)
  DS.take("counter")
end
tell("updates and a reader behind them") do
  seen = Thread.new do
    at = 0
    last = 0
    rising = true
    until last == 1000
      s = DS.peek_segment("news", after: at)
      rising &&= s.index > at && s.value > last
      at, last = s.index, s.value
    end
    rising
  end
  1.upto(1000) { |i| DS.update("news", i) }
  [seen.value, DS.take("news")]
end

puts "-- a killed taker loses nothing"
killed = Array.new(3) { |i| Thread.new { DS.take("k") }.tap { until_waiting("k", i + 1) } }
killed[1].kill.join
tell("who waits") { DS.stat("k")[:waiting] }
DS.put("k", 1)
DS.put("k", 2)
tell("the others got them") { [killed[0].value, killed[2].value] }
random = Random.new(SEED)
tell("put and kill at once") do
  lost = 0
  300.times do |i|
    got = nil
    t = Thread.new do
      # While it does not wait it can not be killed: what it was given it has.
      Thread.handle_interrupt(Object => :on_blocking) { got = DS.take("k") }
    end
    Thread.pass if random.rand(3) == 0
    until_waiting("k", 1) if random.rand(2) == 0
    killer = Thread.new { t.kill }
    DS.put("k", i)
    killer.join
    t.join
    rest = DS.take?("k")
    lost += 1 unless [got, rest].compact == [i]
  end
  [lost, DS.stat("k").slice(:segments, :leased, :waiting)]
end
tell("raise into one that waits") do
  up = nil
  t = Thread.new do
    DS.take("k")
  rescue IOError => e
    up = e.message
    [up, DS.take("k")]
  end
  # The request is there before the thread waits; and it is there until the thread has heard what is raised.
  until_waiting("k", 1)
  Thread.pass until t.stop?
  t.raise(IOError, "up")
  Thread.pass until up
  until_waiting("k", 1)
  DS.put("k", :later)
  t.value
end
tell("wakeup does not end a wait") do
  t = Thread.new { DS.take("k") }
  until_waiting("k", 1)
  3.times { t.wakeup; Thread.pass }
  DS.put("k", :woken)
  t.value
end
tell("Timeout") { Timeout.timeout(0.01) { DS.take("k") } }
tell("Timeout with a class") { Timeout.timeout(0.01, IOError) { DS.peek("k") } }
tell("nobody waits") { DS.stat("k").slice(:waiting, :leased) }
tell("time-outs against puts") do
  lost = 0
  200.times do |i|
    t = Thread.new { DS.take("k", timeout: random.rand * 0.001) rescue nil }
    sleep random.rand * 0.001
    DS.put("k", i)
    lost += 1 unless [t.value, DS.take?("k")].compact == [i]
  end
  lost
end
tell("no time-outs") { [DS.size("k"), S.stat.slice(:requests, :leases)] }

puts "-- fibers wait, and others go on"
tell("a fiber takes") do
  f = Fiber.new { DS.take("k") }
  Thread.new { DS.put("k", :f) }
  f.resume
end
tell("an Enumerator takes") do
  e = Enumerator.new { |y| loop { y << DS.take("k") } }
  3.times { |i| DS.put("k", i) }
  [e.next, e.next, e.next]
end

puts "-- two-key code segments {A, B} and {B, A}"
class AB < CodeSegment
  input :a, take: "A"
  input :b, take: "B"
  def run
    DS.put("pairs", [a, b])
    put("A", a + 1)
    put("B", b + 1)
  end
end
class BA < CodeSegment
  input :b, take: "B"
  input :a, take: "A"
  def run
    DS.put("pairs", [a, b])
    flip :b
    flip :a
  end
end
200.times { [AB, BA].each(&:start) }
3.times { |i| DS.put("A", i * 1000) && DS.put("B", i * 1000) }
pairs = Array.new(400) { DS.take("pairs", timeout: 60) }
S.settle
tell("all ran") { [pairs.size, DS.size("A"), DS.size("B"), S.stat[:waiting]] }
tell("what was added") { [Array.new(3) { DS.take("A") }.sum - 3000, Array.new(3) { DS.take("B") }.sum - 3000] }
class ABC < CodeSegment
  input :a, take: "A"
  input :b, take: "B"
  input :c, peek: "C"
  def run = put("done", [a, b, c])
end
tell("philosophers") do
  forks = Array.new(5) { |i| "fork.#{i}".tap { |f| DS.put(f, f) } }
  eater = Class.new(CodeSegment) do
    input :left, take: nil
    input :right, take: nil
    def run
      put("eaten", 1)
      flip :left
      flip :right
    end
  end
  100.times { |i| eater.new.set_key(:left, forks[i % 5]).set_key(:right, forks[(i + 1) % 5]).start }
  100.times { DS.take("eaten", timeout: 60) }
  S.settle
  forks.map { |f| DS.take(f) }.size
end
tell("a taker who waits for one key keeps no other") do
  waiting = ABC.start
  DS.put("A", 1)
  first = DS.take?("A")
  DS.put("B", 2)
  DS.put("C", 3)
  second = [waiting.ended?, DS.size("B")]
  DS.put("A", 4)
  [first, second, DS.take("done"), DS.take("C")]
end

puts "-- runs that block hold up nobody"
class Sleeper < CodeSegment
  def run
    DS.take("wake")
    put("awake", 1)
  end
end
class Quick < CodeSegment
  def run = put("quick", 1)
end
sleepers = Array.new(100) { Sleeper.start }
tell("a quick one") { Quick.start && DS.take("quick", timeout: 60) }
Thread.pass until S.stat[:running] == 100
tell("running") { S.stat.slice(:ready, :running) }
100.times { DS.put("wake", 1) }
sleepers.each(&:join)
tell("all awake") { DS.size("awake") }
tell("few runners stay") { S.stat[:idle_runners] <= 9 }
class Tree < CodeSegment
  def initialize(depth) = @depth = depth
  def run
    return put("leaf", 1) if @depth == 0
    Array.new(2) { Tree.start(@depth - 1) }.each(&:join)
  end
end
tell("runs that wait for runs") { Tree.start(6).join && DS.size("leaf") }
tell("waiting takers FIFO") do
  order = Array.new(20) { |i| Thread.new { [i, DS.take("fifo")] }.tap { until_waiting("fifo", i + 1) } }
  20.times { |i| DS.put("fifo", i) }
  order.map(&:value).all? { |a, b| a == b }
end
tell("code segments and takers FIFO") do
  take = Thread.new { DS.take("fifo") }
  until_waiting("fifo", 1)
  one = S.when(take: "fifo") { |x| put("code", x) }
  last = Thread.new { DS.take("fifo") }
  until_waiting("fifo", 3)
  3.times { |i| DS.put("fifo", i) }
  [take.value, one.join && DS.take("code"), last.value]
end
tell("stat") { S.stat.slice(:waiting, :ready, :running, :requests, :leases) }
