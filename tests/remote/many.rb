# nodes: 2
# Many calls under way at a time: they may be done by one thread, one after the other, and nobody sees that.
R = Kumihimo::Remote
class Gate
  include R
  def initialize
    @gate = Thread::Queue.new
    @open = false
  end
  def next(n) = n + 1
  def pass(n) = (@gate.pop; n)
  def open(n) = n.times { @gate << true }
  def waiting = @gate.num_waiting
  def spin = (nil until @open; :spun)
  def stop = @open = true
  def used = [Thread.current.keys, Thread.current.thread_variables, Thread.current.name]
  def uses(n)
    Thread.current[:mark] = n
    Thread.current.thread_variable_set(:mark, n)
    Thread.current.name = "call #{n}"
    n
  end
  def ends = Thread.current.kill
  def raises(n) = raise(IndexError, "#{n}")
  def text(n) = "#{n}" * 3
  def list(n) = [n, { n => [n] }, :symbol]
  def same(x) = [x, self]
end
if Kumihimo::Segments.node == "node2"
  R.register("gate", Gate.new)
  Kumihimo::Segments.local.take("end")
  exit
end
there = R.find("gate", on: "node2")
many = 100_000
p Kumihimo.all(Array.new(many) { |i| there.async.next(i) }) == (1..many).to_a
waiting = Array.new(many) { |i| there.async.pass(i) }
# They are all there, each waits, and others are answered.
sleep 0.01 until there.waiting == many
p there.next(1)
there.open(many)
p Kumihimo.all(waiting) == (0...many).to_a
# One that computes keeps none behind it waiting.
spins = Array.new(3) { there.async.spin }
p there.next(2), there.stop, Kumihimo.all(spins)
# What one leaves on its thread is not there for the next.
p Kumihimo.all(Array.new(200) { |i| i.even? ? there.async.uses(i) : there.async.used }).reject { |x| Integer === x }.uniq
# Some end their threads, some raise, some answer what is more than a number.
futures = Array.new(600) do |i|
  case i % 6
  when 0 then there.async.ends
  when 1 then there.async.raises(i)
  when 2 then there.async.text(i)
  when 3 then there.async.list(i)
  when 4 then there.async.next(i)
  when 5 then there.async.same([i])
  end
end
found = futures.each_with_index.map do |f, i|
  case i % 6
  when 0 then (f.value rescue [$!.class, $!.message])
  when 1 then (f.value rescue [$!.class, $!.message == "#{i}"])
  when 2 then [f.value == "#{i}" * 3, f.value.equal?(f.value)]
  when 3 then f.value == [i, { i => [i] }, :symbol]
  when 4 then f.value == i + 1
  when 5 then f.value[0] == [i] && f.value[1].equal?(there)
  end
end
found.each_with_index.group_by { |_, i| i % 6 }.each { |k, list| p [k, list.map(&:first).uniq] }
# Many threads ask for one value.
100.times do |i|
  future = there.async.list(i)
  got = Array.new(4) { Thread.new { future.value } }.map(&:value)
  raise "not one value" unless got.all? { |v| v.equal?(got[0]) }
end
f = there.async.next(6)
sleep 0.001 until f.done?
p f.value, f.done?, f.cancel.value
f = there.async.text(6)
sleep 0.001 until f.done?
p((f.cancel.value rescue $!.message), (R::Future.new rescue $!.class), (R::Future.allocate rescue $!.class))
Kumihimo::Segments["node2"].put("end", 1)
