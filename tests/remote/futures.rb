# nodes: 2
# Futures that several threads ask at a time: all hear the same, whoever finds it, and whenever it comes.
R = Kumihimo::Remote
class Echo
  include R
  def initialize = @gate = Thread::Queue.new
  def echo(n) = n
  def list(n) = [n, "#{n}"]
  def raises(n) = raise(IndexError, "#{n}")
  def same(x) = [x, self]
  def gate = (@gate.pop; :passed)
  def open = (@gate << true; :open)
end
if Kumihimo::Segments.node == "node2"
  R.register("echo", Echo.new)
  Kumihimo::Segments["node2"].take("end")
  exit
end
there = R.find("echo", on: "node2")
$stdout.sync = true
def heard(future) = (future.value rescue [$!.class, $!.message])
# Five threads and each round's futures, at once: a future is asked while its answer comes, by some who wait and some who do not.
def all_hear(count)
  futures = count.times.map { |i| yield(i) }
  5.times.map { |t| Thread.new { (t.odd? ? futures : futures.reverse).map { |f| heard(f) } .then { |all| t.odd? ? all : all.reverse } } }.map(&:value)
end
puts "values"
right = 100.times.count { |round| all_hear(50) { |i| there.async.echo([round, i]) }.uniq == [50.times.map { |i| [round, i] }] }
p right
p 100.times.count { f = there.async.list(3); 8.times.map { Thread.new { f.value } }.map(&:value) == [[3, "3"]] * 8 }
puts "exceptions"
p 20.times.count { all_hear(20) { |i| there.async.raises(i) }.uniq == [20.times.map { |i| [IndexError, "#{i}"] }] }
puts "references"
p 20.times.count { all_hear(20) { |i| there.async.same(i) }.flatten(1).map { |n, r| [n, R::Reference === r] }.uniq.size == 20 }
puts "what has ended stays so"
p 200.times.count { |i|
  f = there.async.echo(i)
  asks = 3.times.map { Thread.new { f.value } }
  Thread.pass until f.done?
  seen = 20.times.map { f.done? }
  asks.map(&:value) == [i] * 3 && seen.all?
}
puts "called off while others wait"
p 20.times.count {
  f = there.async.gate
  waits = 3.times.map { Thread.new { heard(f) } }
  sleep 0.005
  f.cancel
  all = waits.map { |t| t.join(60) ? t.value : :waits }
  all.uniq.size == 1 && all[0].is_a?(Array) || p(all)
}
puts "one of them gives up"
f = there.async.gate
short = Thread.new { (f.value(timeout: 0.02) rescue $!.class) }
long = Thread.new { f.value }
p short.value
dies = Thread.new { f.value }
sleep 0.01
dies.kill.join
there.open
p long.value, f.value
puts "those who ask are killed, by chance while they find out"
%i[echo list raises same].each do |name|
  right = 150.times.count do |i|
    f = there.async.method_missing(name, i)
    asks = 3.times.map { Thread.new { heard(f) } }
    asks.each { |t| i.odd? && Thread.pass; t.kill }
    last = Thread.new { heard(f) }
    seen = last.join(60) ? last.value : :waits
    asks.each(&:join)
    seen == { echo: i, list: [i, "#{i}"], raises: [IndexError, "#{i}"] }[name] || name == :same && seen[0] == i && R::Reference === seen[1] || p(seen)
  end
  p [name, right]
end
puts "Timeout"
right = 100.times.count { |i| f = there.async.echo(i); 4.times.map { |n| Thread.new { Timeout.timeout(0.0002 * n + 0.0001) { f.value } rescue i } }.map(&:value).push(f.value).uniq == [i] }
p right
puts "a fork's child"
f = there.async.gate
waits = Thread.new { f.value }
Thread.pass until waits.stop?
read, write = IO.pipe
child = fork { write.puts [heard(f), (there.async.echo(1) rescue $!.class), f.done?, Kumihimo::Segments.node, (Kumihimo::Segments.nodes rescue $!.class), (Kumihimo::Cluster.barrier rescue $!.class)].inspect }
write.close
puts read.read
Process.wait(child)
there.open
p waits.value, f.value
Kumihimo::Segments["node2"].put("end", 1)
