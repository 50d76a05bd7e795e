# Every copy of a Data is frozen, has the members and the class, and shares what they hold.
Plain = Data.define(:a, :b)
Told = Data.define(:a, :b) do
  def initialize_copy(o) = (puts "copy"; super)
  def initialize_dup(o) = (puts "dup"; super)
  def initialize_clone(o, **k) = (puts "clone #{k}"; super)
end
Noted = Data.define(:a) do
  attr_reader :memo
  def initialize(a:) = (@memo = "memo"; super)
end
[Plain, Told].each do |c|
  d = c.new(a: [1], b: 2)
  copies = [d.dup, d.clone, d.clone(freeze: true), d.clone(freeze: false), d.with(b: 2), Marshal.load(Marshal.dump(d))]
  copies.each { |e| p [e, e.class == c, e.frozen?, e.equal?(d), e == d, e.eql?(d), e.hash == d.hash, e.a.equal?(d.a)] }
  copies.each { |e| p((e.instance_variable_set(:@x, 1) rescue $!.class)) }
end
n = Noted.new(a: 1)
p n.dup.memo, n.clone.memo, n.with(a: 2).memo, n.dup.frozen?
p n.with.equal?(n), (n.with(1) rescue $!), (n.with(z: 1) rescue $!)
s = Plain.new(a: 1, b: 2)
p((s.send(:initialize_copy, Plain.new(a: 3, b: 4)) rescue $!.class), s)
p((s.send(:initialize_copy, 5) rescue $!.class))
