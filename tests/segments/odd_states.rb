# What is called at odd times, or by odd names.
require "kumihimo/segments"
require "tmpdir"

S = Kumihimo::Segments
ds = S.local

# A key is no list of keys, though it can be read to its end.
ds.put("order", 1)
ds.put("rates", 2)
S.when(take: ds.key("order"), peek: ds.key("rates")) { |a, b| put "bill", a + b }.join
p ds.take("bill"), ds.size("rates")

# What a run that fails was to put elsewhere is put by nobody.
Dir.mktmpdir do |dir|
  STORE = S.open("#{dir}/s.db")
  class Fails < Kumihimo::CodeSegment
    input :n, take: "n"

    def run
      put "out", n, on: STORE
      raise "no" if input(:n).deliveries == 1
    end
  end
  err, $stderr = $stderr, File.open(IO::NULL, "w")
  ds.put("n", 1)
  a = Fails.start
  p((a.join rescue $!.message))
  a.start.join
  $stderr = err
  p STORE.size("out")
  p((Fails.new.put("x", 1, on: STORE) rescue $!.class))

  # Who waits for all waits for those, too, whose inputs are elsewhere.
  class Slow < Kumihimo::CodeSegment
    input :m, take: "mail", from: STORE

    def run
      sleep 0.1
      put "sent", m
    end
  end
  STORE.put("mail", "hello")
  slow = Slow.start
  sleep 0.01 until S.stat[:running] == 1
  S.settle
  p slow.ended?, ds.take?("sent")

  # Its keys stand while it lives, wherever they are.
  class Either < Kumihimo::CodeSegment
    input :a, take: nil
    input :b, take: nil
    def run = put("either", [a, b])
  end
  e = Either.new.set_key(:a, "ka", from: STORE).set_key(:b, "kb").start
  p((e.set_key(:a, "kc") rescue $!.message))
  STORE.put("ka", 1)
  ds.put("kb", 2)
  e.join
  p ds.take("either")
  # It is started here the next time, and what is not said again stays.
  e.set_key(:a, "kd", from: nil).start
  ds.put("kd", 3)
  ds.put("kb", 4)
  e.join
  p ds.take("either"), e.ended?
  e.set_key("b", "kf").start
  ds.put("kd", 5)
  ds.put("kf", 6)
  e.join
  p ds.take("either")
  STORE.close
end

# A block that ends its repetition, or its thread.
class Square < Kumihimo::CodeSegment
  input :i, take: "i"
  def run = put("square", i * i)
end
r = Square.repeat { raise NotImplementedError, "not yet" }
ds.put("i", 3)
begin
  r.join(timeout: 5)
rescue NotImplementedError
  p $!.message, r.stopped?
end
r = Square.repeat { Thread.exit }
ds.put("i", 4)
p r.join(timeout: 5).equal?(r), r.count, ds.take("square"), ds.take("square")

# Started once more in its own run: what was flipped stays so.
class Twice < Kumihimo::CodeSegment
  input :x, take: "x"

  def run
    flip :x, to: "first"
    (start rescue put("why", $!.message))
    (flip(:x, to: "second") rescue put("then", $!.class.name))
  end
end
ds.put("x", [1], move: true)
Twice.start.join
p ds.take("first"), ds.take("why"), ds.take("then"), ds.size("second")

# Names of inputs.
p(%i[a? initialize raise run put].map { |name| Class.new(Kumihimo::CodeSegment) { input name, take: "k" } && 1 rescue $!.class })
class Above < Kumihimo::CodeSegment; end
class Below < Above
  input :b, take: "b"
end
p((Above.input(:b, take: "c") rescue $!.message))
Below.new.instance_eval { (input(:nothing) rescue nil) }
Above.input :c, take: "c"
class Below
  def run = put("sum", [input(:c).key, input(:b).key])
end
ds.put("b", 1)
ds.put("c", 2)
Below.start.join
p ds.take("sum")
class ByKeys < Kumihimo::CodeSegment
  input :k, take: nil
  def run = nil
end
waits = ByKeys.new.set_key(:k, "never").start
p((ByKeys.input(:z, take: "z") rescue $!.class), waits.cancel)
p((ds.take("k", after: 2**70) rescue $!.class), (ByKeys.new.set_key(:k, "k", 2**70) rescue $!.class))

# A program's own constants.
class Input; end
class Plain < Kumihimo::CodeSegment
  def run = put("constant", Input.name)
end
Plain.start.join
p ds.take("constant")

# Several values at a time are an Array.
p ds.key("pairs").from(%w[a b].each_with_index), ds.take("pairs"), ds.take("pairs")

# What a thread has is not what its code segments have.
S.with_trace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01") { S.when {}.join }
ds.put("t", 1)
S.when(take: "t") { put "u", 1 }.join
p ds.take_segment("u").trace
S.when { S.trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" }.join
20.times { |i| S.when { put "v#{i}", Fiber[:mine].inspect }.join }
Fiber[:mine] = 1
p 20.times.map { |i| ds.take_segment("v#{i}") }.map { |s| [s.value, s.trace] }.uniq
