# Ractors: values, messages, ports, copying and moving, isolation, shareable objects.
r = Ractor.new { 1 + 2 }
p r.value
r = Ractor.new(10, name: "adder") { |x| y = Ractor.receive; x + y }
r << 5
p r.value, r.name
p r.inspect.sub(/\/.*:/, "F:")
a = 1
begin; Ractor.new { a }; rescue ArgumentError => e; puts e.message; end
begin; Ractor.new; rescue ArgumentError => e; puts e.message; end
port = Ractor::Port.new
r = Ractor.new(port) { |po| po << [1, "two", {three: 3}]; po.send(:x); :done }
p port.receive, port.receive, r.value
s = "str"
r = Ractor.new { x = Ractor.receive; x << "!"; x }
r.send(s)
p r.value, s
ar = [1, [2]]
r = Ractor.new { Ractor.receive }
r.send(ar, move: true)
p r.value
begin; ar.inspect; rescue Ractor::MovedError => e; puts e.message; end
begin; ar[0]; rescue Ractor::MovedError => e; puts e.message; end
begin; ar << 0; rescue Ractor::MovedError => e; puts e.message; end
begin; ar.size; rescue Ractor::MovedError => e; puts e.message; end
r = Ractor.new { Thread.current.report_on_exception = false; raise ArgumentError, "boom" }
begin; r.value; rescue Ractor::RemoteError => e; p e.message, e.cause.class, e.cause.message, e.ractor == r; end
LIST = [1, 2]
FROZEN = [1, "a".freeze].freeze
$glob = 1
class K; @iv = []; @num = 1; @@cv = 1; def self.iv = @iv; def self.num = @num; def self.cv = @@cv; def self.set = @iv = 1; end
r = Ractor.new do
  out = []
  [-> { LIST }, -> { FROZEN }, -> { $glob }, -> { K.iv }, -> { K.num }, -> { K.cv }, -> { K.set }, -> { $stdout.class }].each do |l|
    out << l.call
  rescue => e
    out << "#{e.class}: #{e.message}"
  end
  out
end
puts r.value.map(&:inspect)
p LIST
p Ractor.shareable?(LIST), Ractor.shareable?(FROZEN), Ractor.shareable?(1), Ractor.shareable?("a"), Ractor.shareable?(Object)
x = Ractor.make_shareable([[+"a"], {b: +"c"}])
p Ractor.shareable?(x), x[0][0].frozen?
r1 = Ractor.new { Ractor.receive; :slow }
r2 = Ractor.new { :fast }
p Ractor.select(r1, r2)[1]
r1 << :go
p Ractor.new { [Ractor.main?, Ractor.current.class, Thread.new { Ractor.current.equal?(Ractor.current) }.value] }.value
p Ractor.new { Ractor.new { 1 }.value + Ractor.new { 2 }.value }.value
o = Object.new
def o.each_pair = 3
h = {a: [1, "x"], "k" => Struct.new(:v).new([2])}
back = Ractor.new(h) { |x| x }.value
p back == h, back.equal?(h), back[:a].equal?(h[:a])
p Ractor.make_shareable("abc").frozen?, Ractor.make_shareable([1, "d"], copy: true).frozen?
begin; Ractor.make_shareable(Thread.current); rescue Ractor::Error => e; puts e.message.sub(/#<.*/, "THREAD"); end
# What freezing cannot make shareable is refused, stays as it was, and so is what holds it.
require "stringio"
require "strscan"
require "digest"
require "socket"
y = nil
begin; raise "raised"; rescue => raised; end
Enumerator.new { |yielder| y = yielder; yielder << 1 }.next
[
  Thread.current, ThreadGroup.new, Fiber.new {}, Mutex.new, Monitor.new, Queue.new, SizedQueue.new(1), ConditionVariable.new,
  IO.pipe[0], File.open(__FILE__), UDPSocket.new, Dir.new("."), ARGF, StringIO.new, StringScanner.new("a"), Digest::MD5.new,
  1.method(:+), Integer.instance_method(:+), 1.method(:+).to_proc, binding, [1].each, [1].lazy, [1].each + [2], 1.step(5, 2), y,
  Enumerator::Generator.new {}, Enumerator::Product.new([1]), Random.new(1), ObjectSpace::WeakMap.new, ObjectSpace::WeakKeyMap.new,
  Encoding::Converter.new("utf-8", "utf-16le"), raised
].each do |object|
  frozen = object.frozen?
  held = [object]
  refused = [object, held].map do |what|
    Ractor.make_shareable(what)
    "shared"
  rescue Ractor::Error => e
    e.message.delete_suffix(object.inspect)
  end
  wanted = ["can not make shareable object for "] * 2
  next if refused == wanted && object.frozen? == frozen && !Ractor.shareable?(object) && !Ractor.shareable?(held)
  puts "#{object.inspect}: #{refused}, #{frozen} #{object.frozen?} #{Ractor.shareable?(object)}"
end
# What is only data is shared.
[Object.new, Time.now, /a/, "a".match(/a/), [+"a"], Set[+"a"], { a: [+"b"] }, +"a".."b", Struct.new(:a).new([1]), Data.define(:a).new([1]),
 RuntimeError.new(+"never raised"), Encoding::UTF_8, 1r, 10**30].each do |object|
  puts "#{object.inspect} is not shared" unless Ractor.make_shareable(object).equal?(object) && Ractor.shareable?(object)
end
begin; Ractor.select; rescue ArgumentError => e; puts e.message; end
p Ractor::RemoteError.superclass, Ractor::ClosedError.superclass, Ractor::MovedObject.superclass
4.times.map { |i| Ractor.new(i) { |k| (1..100).sum * k } }.each { |x| p x.value }
p Ractor.count >= 1, Ractor.main?, Ractor.current == Ractor.main
Ractor[:a] = 1
p Ractor[:a], Ractor.current[:a], Ractor.store_if_absent(:b) { |v| v.inspect }, Ractor.store_if_absent(:b) { 3 }
p Ractor.new { Ractor[:a] }.value
z = 5
pr = Ractor.shareable_proc { z + 1 }
p pr.call, Ractor.shareable?(pr)
w = []
begin; Ractor.shareable_proc { w }; rescue Ractor::IsolationError => e; puts e.message; end
begin; Ractor.shareable_proc { z = 1 }; rescue Ractor::IsolationError => e; puts e.message; end
p Ractor.new(pr) { |q| q.call }.value
begin; Ractor.new { }.tap(&:join).send(1); rescue Ractor::ClosedError => e; puts e.message; end
begin; Ractor.new(proc {}) {}; rescue TypeError => e; puts e.message; end
po = Ractor::Port.new
begin; Ractor.new(po) { |q| Thread.current.report_on_exception = false; q.receive }.value; rescue Ractor::RemoteError => e; puts e.cause.message; end
p po.closed?, po.close, po.closed?
begin; po << 1; rescue Ractor::ClosedError => e; puts e.message; end
m = Ractor::Port.new
r = Ractor.new { Ractor.receive }
p r.monitor(m)
r << 1
p m.receive, r.monitor(m), m.receive
po = Ractor::Port.new
po << nil
po.close
p po.receive
[-> { po.receive }, -> { Ractor.select(po) }].each { |f| begin; f.call; rescue Ractor::ClosedError => e; puts e.message; end }
