# Threads on all workers change the same collections: nothing is lost, nothing is torn.
class Key
  attr_reader :v

  def initialize(v) = @v = v
  def hash = @v.hash
  def eql?(other) = other.is_a?(Key) && other.v == @v
end
Pair = Struct.new(:n, :list)

list = []
table = {}
set = Set.new
text = +""
queue = Queue.new
keys = {}
key_set = Set.new
won = Queue.new
pair = Pair.new(0, [])
weak = ObjectSpace::WeakKeyMap.new
N = 60
names = Array.new(N) { |i| "n#{i}" }

again = lambda do |&b|
  b.call
rescue RuntimeError => e
  raise unless e.message.include?("new key into hash")
  retry
end
threads = 6.times.map do |t|
  Thread.new do
    N.times do |i|
      list << i
      again.call { table[i] = t }
      again.call { table[[t, i]] = i }
      set.add(i)
      text << "x"
      queue << i
      won << i if key_set.add?(Key.new(i))
      keys[Key.new(i % 10)] = t
      keys.delete(Key.new(i % 10)) if i % 7 == 0
      weak[names[i]] = i
      pair.n = i
      pair.list << i
      table.each { |k, v| raise "torn" if k.nil? || v.nil? }
      raise "lost" unless table.fetch(i) { nil }
      table.delete([t, i]) if i.even?
      raise "match" unless "abc#{i}" =~ /b(c)(\d+)/ && $2 == i.to_s
      raise "names" unless :"sym#{i}".name.equal?(:"sym#{i}".name)
      raise "ivar" unless (o = Object.new).instance_variable_set(:@a, i) == o.instance_variable_get(:@a)
      [i, [t, { a: i }], "s"].inspect
      format("%05d", i)
      rand(10)
    end
  end
end
threads.each(&:join)
p list.size, table.size, set.size, text.size, queue.size, pair.list.size
p key_set.size, won.size, names.map { |n| weak[n] } == (0...N).to_a, keys.size <= 10

classes = 4.times.map do |t|
  Thread.new do
    20.times do |i|
      c = Class.new { define_method(:foo) { i } }
      Object.const_set("C#{t}x#{i}", c)
      c.include(Module.new { def bar = 7 })
      String.define_method("m#{t}x#{i % 3}") { t }
      raise unless c.new.foo + c.new.bar == i + 7 && "".send("m#{t}x#{i % 3}") == t && c.name == "C#{t}x#{i}"
      Object.send(:remove_const, "C#{t}x#{i}")
      Struct.new(:x, :y).new(1, 2).to_a
    end
    ObjectSpace.each_object(Class).first.class
  end
end
p classes.map(&:value)
