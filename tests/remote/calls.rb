# nodes: 2
# Calls of another node's objects: values, keywords, blocks, exceptions, re-entrance, futures.
R = Kumihimo::Remote

class Counter
  include Kumihimo::Remote
  remote_idempotent :value
  attr_reader :value

  def initialize
    @value = 0
    @gate = Thread::Queue.new
  end

  # Waits until another call opens.
  def gate = @gate.pop
  def open(value, n = 1) = n.times { @gate << value }
  def add(n = 1) = @value += n
  def echo(*arguments, **named) = [arguments, named]
  def same(other) = equal?(other)
  def itself_again = self
  def each_to(n)
    return enum_for(:each_to, n).to_a unless block_given?
    (1..n).each { |i| yield i, i * i }
    :done
  end
  def twice(x, &block) = block.call(block.call(x))
  def call_back(other, n) = n.zero? ? [:end] : [n] + other.call_back(self, n - 1)
  def slow(s) = (sleep s; :slow)
  def raises(what) = raise(Object.const_get(what), "said there")
  def raises_own = raise(Own, "own")
  def leaves = exit(3)
  def throws = throw(:nothing)
  def keep(&block) = (@kept = block; :kept)
  def kept = @kept.call(1)
  def make = Counter.new.tap { |c| c.add(10) }
  def hash_of(x) = { x => 1, "k" => [x, x] }
  def big(n) = "x" * n
  def inner_deadline = Kumihimo::Remote.find("counter", on: "node2").slow(5)
  protected def guarded = :guarded
  private def secret = :secret
end

class Own < StandardError
  def initialize(text) = super("#{text}, made by new")
end

if Kumihimo::Segments.node == "node2"
  class OnlyHere < StandardError; end
  class Counter
    def raises_here = raise(OnlyHere, "what is this?")
  end
  R.register("counter", Counter.new)
  Kumihimo::Segments.local.take("end")
  exit
end

def try
  yield
rescue Exception => error
  "#{error.class}: #{error.message}"
end

there = R.find("counter", on: "node2")
puts there.inspect.sub(/ \d+\.\d+ /, " ")
puts there.node, there.class, R.reference?(there), there.respond_to?(:add), there.respond_to?(:secret), there.respond_to?(:to_ary)
p there.add, there.add(41), there.value
p there.echo, there.echo(1, :two, "three", nil, 2.5, [6, { 7 => 8 }]), there.echo(a: 1, "b" => 2), there.echo(1, { a: 1 }), there.echo(1, z: [1..2])
puts "identity"
again = R.find("counter", on: "node2")
p again.equal?(there), again == there, again.hash == there.hash, { there => 1 }[again], there.same(again), there.itself_again == there
p there == there.make, there.make.value, there.hash_of(there).keys.include?(there)
here = Counter.new
p there.echo(here)[0][0].equal?(here), there.echo([here, { here => here }])[0][0][1].keys[0].equal?(here)
puts "blocks"
seen = []
p there.each_to(3) { |i, square| seen << [i, square] }, seen
p there.twice(3) { |x| x * 5 }, there.each_to(2)
p there.each_to(5) { |i, _| break i * 100 if i == 3 }
p try { there.each_to(5) { raise IOError, "in the block" } }
p there.twice(1) { |x| there.add(x) }
p there.keep { |x| x }, try { there.kept }
puts "re-entrance"
p there.call_back(here, 6)
puts "exceptions"
puts try { there.raises(:ArgumentError) }, try { there.raises_own }, try { there.leaves }, try { there.throws }
error = (there.raises_here rescue $!)
p error.class, error.remote_class, error.message
error = (there.raises(:KeyError) rescue $!)
puts error.backtrace[0][/\Anode2: .*calls.rb:\d+:in .*raises/] ? "its backtrace, " : error.backtrace
puts error.backtrace.any? { |line| line.start_with?(/[^:]*calls.rb/) } ? "and ours" : error.backtrace
puts try { there.echo(Object.new) }, try { there.echo(proc {}) }, try { there.keep(1) }
puts "what nobody may call"
%i[secret guarded send instance_eval instance_variable_get class_eval method methods object_id_of tap then display public_send
   instance_variables initialize method_missing nothing system exit! remote_methods].each { |m| puts "#{m}: #{try { there.__send__(:method_missing, m) }}" }
puts try { there.to_ary }, try { [there].flatten.size }, try { "#{there}".size > 10 }
puts "futures"
futures = (1..100).map { |i| there.async.echo(i) }
p Kumihimo.all(futures).map { |f| f[0][0] }.sum
slow = there.async.gate
p there.add(0), slow.done?, try { slow.value(timeout: 0.05) }
there.open(:slow)
p slow.value, slow.value, slow.done?
bad = there.async.raises(:IndexError)
p try { bad.value }, try { bad.value }
p there.async.twice(2) { |x| x + 1 }.value
# All of them wait there at a time.
waits = 200.times.map { there.async.gate }
there.open(:all, 200)
p Kumihimo.all(waits).uniq
f = there.async.echo(1)
p 5.times.map { Thread.new { f.value } }.map(&:value).uniq
puts "time"
def error = (yield; :none) rescue $!.class
p error { R.within(0.1) { there.slow(20) } }, error { there.within(0.1).slow(20) }, there.within(20).add(0), error { there.within(0.1).async.slow(9).value }
p error { R.within(0.2) { there.inner_deadline } }
require "timeout"
p try { Timeout.timeout(0.1) { there.slow(20) } }
puts "names, in time"
p [0, -1, 0.05].map { |t| error { R.find("nobody", on: "node1", timeout: t) } }, error { R.within(0.05) { R.find("nobody", on: "node1") } }
p error { R.find("nobody", on: "node2", timeout: 0.05) }, R.within(nil) { there.add(0) }, error { R.within(0.1) { R.within(nil) { there.slow(20) } } }
puts "called off"
f = there.async.slow(20)
p f.cancel.done?, try { f.value }
p there.value, there.big(3_000_000).size
Kumihimo::Segments["node2"].put("end", 1)
