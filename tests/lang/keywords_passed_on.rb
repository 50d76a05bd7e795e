# Every door that passes arguments on tells keywords from a Hash at the end: doors × {keywords, Hash} × {proc, lambda}.
def show
  v = begin; yield; rescue => e; e.class; end
  Proc === v || Enumerator::Yielder === v ? v.class : v.inspect
end
SINK = proc { |*a, **k| [a, k] }
LSINK = lambda { |*a, **k| [a, k] }
class Sink
  def m(*a, **k) = [a, k]
  def initialize(*a, **k) = @v = [a, k]
  attr_reader :v
  def call(*a, **k) = [a,k]
  def method_missing(n, *a, **k) = [n, a, k]
  def respond_to_missing?(*) = true
  def to_proc = method(:m).to_proc
end
S = Sink.new
h = {b: 2}
doors = {
  "Thread.new" => ->(pr, a, k, kw) { kw ? Thread.new(*a, **k, &pr).value : Thread.new(*a, k, &pr).value },
  "Thread.start" => ->(pr, a, k, kw) { kw ? Thread.start(*a, **k, &pr).value : Thread.start(*a, k, &pr).value },
  "Fiber#resume" => ->(pr, a, k, kw) { f = Fiber.new(&pr); kw ? f.resume(*a, **k) : f.resume(*a, k) },
  "Proc#call" => ->(pr, a, k, kw) { kw ? pr.call(*a, **k) : pr.call(*a, k) },
  "Proc#()" => ->(pr, a, k, kw) { kw ? pr.(*a, **k) : pr.(*a, k) },
  "Proc#[]" => ->(pr, a, k, kw) { kw ? pr.yield(*a, **k) : pr.yield(*a, k) },
  "instance_exec" => ->(pr, a, k, kw) { kw ? instance_exec(*a, **k, &pr) : instance_exec(*a, k, &pr) },
  "class_exec" => ->(pr, a, k, kw) { kw ? Sink.class_exec(*a, **k, &pr) : Sink.class_exec(*a, k, &pr) },
  "module_exec" => ->(pr, a, k, kw) { kw ? Kernel.module_exec(*a, **k, &pr) : Kernel.module_exec(*a, k, &pr) },
  "define_method" => ->(pr, a, k, kw) { o = Object.new; o.define_singleton_method(:zz, &pr); kw ? o.zz(*a, **k) : o.zz(*a, k) },
  "define_method.send" => ->(pr, a, k, kw) { o = Object.new; o.define_singleton_method(:zz, &pr); kw ? o.send(:zz, *a, **k) : o.send(:zz, *a, k) },
  "define_method.method.call" => ->(pr, a, k, kw) { o = Object.new; o.define_singleton_method(:zz, &pr); m = o.method(:zz); kw ? m.call(*a, **k) : m.call(*a, k) },
  "define_method.method.to_proc" => ->(pr, a, k, kw) { o = Object.new; o.define_singleton_method(:zz, &pr); m = o.method(:zz).to_proc; kw ? m.call(*a, **k) : m.call(*a, k) },
  "curry" => ->(pr, a, k, kw) { c = pr.curry; kw ? c.call(*a, **k) : c.call(*a, k) },
  "curry2" => ->(pr, a, k, kw) { c = pr.curry(2); kw ? c.call(*a, **k) : c.call(*a, k) },
  ">>" => ->(pr, a, k, kw) { c = pr >> ->(x) { x }; kw ? c.call(*a, **k) : c.call(*a, k) },
  "<<" => ->(pr, a, k, kw) { c = (->(x) { x }) << pr; kw ? c.call(*a, **k) : c.call(*a, k) },
  "yield" => ->(pr, a, k, kw) { o = Object.new; def o.y(*a, **k) = yield(*a, **k); def o.z(*a) = yield(*a); kw ? o.y(*a, **k, &pr) : o.z(*a, k, &pr) },
  "yield ..." => ->(pr, a, k, kw) { o = Object.new; def o.y(*a, **k) = yield(*a, **k);  kw ? o.y(*a, **k, &pr) : o.y(*a, k, &pr) },
  "Enumerator::Yielder#yield" => ->(pr, a, k, kw) { r = nil; Enumerator.new { |y| r = kw ? y.yield(*a, **k) : y.yield(*a, k) }.each(&pr); r },
  "Enumerator::Yielder#<<" => ->(pr, a, k, kw) { r = nil; Enumerator.new { |y| r = kw ? y.yield(**k) : y << k }.each(&pr); r },
  "Yielder#to_proc" => ->(pr, a, k, kw) { r = nil; Enumerator.new { |y| r = kw ? y.to_proc.call(*a, **k) : y.to_proc.call(*a, k) }.each(&pr); r },
  "Struct kw" => ->(pr, a, k, kw) { o = Object.new; o.define_singleton_method(:each) { |*aa, **kk, &b| kw ? b.call(*a, **k) : b.call(*a, k) }; o.to_enum(:each).each(&pr) },
  "tap" => ->(pr, a, k, kw) { r = nil; k.tap { |*x, **y| r = [x, y] }; r },
  "catch" => ->(pr, a, k, kw) { catch(k, &pr) },
  "send" => ->(pr, a, k, kw) { kw ? S.send(:m, *a, **k) : S.send(:m, *a, k) },
  "__send__" => ->(pr, a, k, kw) { kw ? S.__send__(:m, *a, **k) : S.__send__(:m, *a, k) },
  "public_send" => ->(pr, a, k, kw) { kw ? S.public_send(:m, *a, **k) : S.public_send(:m, *a, k) },
  "mm" => ->(pr, a, k, kw) { kw ? S.nope(*a, **k) : S.nope(*a, k) },
  "send mm" => ->(pr, a, k, kw) { kw ? S.send(:nope, *a, **k) : S.send(:nope, *a, k) },
  "method(mm)" => ->(pr, a, k, kw) { m = S.method(:nope); kw ? m.call(*a, **k) : m.call(*a, k) },
  "method(mm).to_proc" => ->(pr, a, k, kw) { m = S.method(:nope).to_proc; kw ? m.call(*a, **k) : m.call(*a, k) },
  "Method#call" => ->(pr, a, k, kw) { m = S.method(:m); kw ? m.call(*a, **k) : m.call(*a, k) },
  "Method#[]" => ->(pr, a, k, kw) { m = S.method(:m); kw ? m.(*a, **k) : m.(*a, k) },
  "Method#===" => ->(pr, a, k, kw) { m = S.method(:m); m === k },
  "Method#to_proc" => ->(pr, a, k, kw) { m = S.method(:m).to_proc; kw ? m.call(*a, **k) : m.call(*a, k) },
  "Method#curry" => ->(pr, a, k, kw) { m = S.method(:m).curry(1); kw ? m.call(*a, **k) : m.call(*a, k) },
  "Method#>>" => ->(pr, a, k, kw) { m = S.method(:m) >> ->(x){x}; kw ? m.call(*a, **k) : m.call(*a, k) },
  "Method#<<" => ->(pr, a, k, kw) { m = ->(x){x} << S.method(:m); kw ? m.call(*a, **k) : m.call(*a, k) },
  "callable>>" => ->(pr, a, k, kw) { m = ->(x){x} << S; kw ? m.call(*a, **k) : m.call(*a, k) },
  "UnboundMethod#bind_call" => ->(pr, a, k, kw) { m = Sink.instance_method(:m); kw ? m.bind_call(S, *a, **k) : m.bind_call(S, *a, k) },
  "UnboundMethod#bind" => ->(pr, a, k, kw) { m = Sink.instance_method(:m).bind(S); kw ? m.call(*a, **k) : m.call(*a, k) },
  "sym.to_proc" => ->(pr, a, k, kw) { m = :m.to_proc; kw ? m.call(S, *a, **k) : m.call(S, *a, k) },
  "new" => ->(pr, a, k, kw) { (kw ? Sink.new(*a, **k) : Sink.new(*a, k)).v },
  "new.send" => ->(pr, a, k, kw) { (kw ? Sink.send(:new, *a, **k) : Sink.send(:new, *a, k)).v },
  "new.method" => ->(pr, a, k, kw) { (kw ? Sink.method(:new).call(*a, **k) : Sink.method(:new).call(*a, k)).v },
  "new.bind" => ->(pr, a, k, kw) { (kw ? Class.instance_method(:new).bind_call(Sink, *a, **k) : Class.instance_method(:new).bind_call(Sink, *a, k)).v },
  "enum_for args" => ->(pr, a, k, kw) { o = Object.new; def o.e(*a, **k) = yield([a, k]); (kw ? o.enum_for(:e, *a, **k) : o.enum_for(:e, *a, k)).first },
  "enum_for next" => ->(pr, a, k, kw) { o = Object.new; def o.e(*a, **k) = yield([a, k]); (kw ? o.enum_for(:e, *a, **k) : o.enum_for(:e, *a, k)).next },
  "super" => ->(pr, a, k, kw) { c = Class.new(Sink) { def m(*a, **k) = super }; kw ? c.new.m(*a, **k) : c.new.m(*a, k) },
  "super()" => ->(pr, a, k, kw) { c = Class.new(Sink) { def m(*a) = super(*a); ruby2_keywords :m }; kw ? c.new.m(*a, **k) : c.new.m(*a, k) },
  "super noruby2" => ->(pr, a, k, kw) { c = Class.new(Sink) { def m(*a) = super(*a) }; kw ? c.new.m(*a, **k) : c.new.m(*a, k) },
  "..." => ->(pr, a, k, kw) { o = Object.new; def o.f(...) = S.m(...);  kw ? o.f(*a, **k) : o.f(*a, k) },
  "1, ..." => ->(pr, a, k, kw) { o = Object.new; def o.f(q, ...) = S.m(q, ...);  kw ? o.f(1, *a, **k) : o.f(1, *a, k) },
  "r2k block dm" => ->(pr, a, k, kw) { o = Object.new; o.singleton_class.send(:define_method, :f) { |*a| S.m(*a) }; o.singleton_class.send(:ruby2_keywords, :f); kw ? o.f(*a, **k) : o.f(*a, k) },
  "r2k proc" => ->(pr, a, k, kw) { x = proc { |*a| S.m(*a) }.ruby2_keywords;  kw ? x.call(*a, **k) : x.call(*a, k) },
  "prepended" => ->(pr, a, k, kw) { c = Class.new(Sink) { prepend Module.new { def m(*a, **k) = super } }; kw ? c.new.m(*a, **k) : c.new.m(*a, k) },
  "instance_exec sym" => ->(pr, a, k, kw) { S.instance_exec(*a, &:m) },
  "block from method" => ->(pr, a, k, kw) { o = Object.new; def o.y(*a, **k) = yield(*a, **k); def o.z(*a) = yield(*a); kw ? o.y(*a, **k, &S.method(:m)) : o.z(*a, k, &S.method(:m)) },
  "block from obj" => ->(pr, a, k, kw) { o = Object.new; def o.y(*a, **k) = yield(*a, **k); def o.z(*a) = yield(*a); kw ? o.y(*a, **k, &S) : o.z(*a, k, &S) },
  "Hash default_proc" => ->(pr, a, k, kw) { Hash.new(&SINK)[k] },
  "Array.new" => ->(pr, a, k, kw) { Array.new(1, &pr) },
  "each" => ->(pr, a, k, kw) { r = nil; [k].each { |*x, **y| r = [x, y] }; r },
  "map" => ->(pr, a, k, kw) { [k].map(&pr) },
  "map2" => ->(pr, a, k, kw) { [[1, k]].map(&pr) },
  "each_with_index" => ->(pr, a, k, kw) { r = nil; [k].each_with_index { |*x, **y| r = [x, y] }; r },
  "inject" => ->(pr, a, k, kw) { [1, k].inject(&pr) },
  "each_with_object" => ->(pr, a, k, kw) { r = nil; [1].each_with_object(k) { |*x, **y| r = [x, y] }; r },
  "instance_eval" => ->(pr, a, k, kw) { k.instance_eval(&pr) },
  "define_finalizer-like then" => ->(pr, a, k, kw) { k.then(&pr) },
  "Enumerator::Lazy" => ->(pr, a, k, kw) { [k].lazy.map(&pr).to_a },
  "lazy 2" => ->(pr, a, k, kw) { [[1,k]].lazy.map(&pr).to_a },
  "Enumerator.new.with_index" => ->(pr, a, k, kw) { r = nil; Enumerator.new { |y| kw ? y.yield(*a, **k) : y.yield(*a, k) }.with_index { |*x, **z| r = [x, z] }; r },
  "Enumerator.new.next" => ->(pr, a, k, kw) { Enumerator.new { |y| kw ? y.yield(*a, **k) : y.yield(*a, k) }.next_values },
  "Enumerator.to_a" => ->(pr, a, k, kw) { Enumerator.new { |y| kw ? y.yield(*a, **k) : y.yield(*a, k) }.to_a },
  "Enumerator chained map" => ->(pr, a, k, kw) { Enumerator.new { |y| kw ? y.yield(*a, **k) : y.yield(*a, k) }.map(&pr) },
  "Generator lazy" => ->(pr, a, k, kw) { Enumerator::Lazy.new([1]) { |y, v| kw ? y.yield(*a, **k) : y.yield(*a, k) }.to_a },
  "Struct subclass" => ->(pr, a, k, kw) { s = Class.new(Struct.new(:x, :b)) { def initialize(*a, **k) = super(a, k) }; kw ? s.new(*a, **k).to_a : s.new(*a, k).to_a },
  "Exception.new" => ->(pr, a, k, kw) { c = Class.new(StandardError) { attr_reader :z; def initialize(*a, **k) = @z = [a, k] }; (kw ? c.new(*a, **k) : c.new(*a, k)).z },
  "Fiber.yield" => ->(pr, a, k, kw) { f = Fiber.new { kw ? Fiber.yield(*a, **k) : Fiber.yield(*a, k) }; f.resume },
  "Fiber resume2" => ->(pr, a, k, kw) { f = Fiber.new { Fiber.yield }; f.resume; kw ? f.resume(*a, **k) : f.resume(*a, k) },
  "Comparable/Class.new block" => ->(pr, a, k, kw) { r = nil; Class.new { |*x, **y| r = x.size }; r },
  "obj to_proc via map" => ->(pr, a, k, kw) { [k].map(&S) },
  "method via map" => ->(pr, a, k, kw) { [k].map(&S.method(:m)) },
  "hash each" => ->(pr, a, k, kw) { r = nil; k.each { |*x, **y| r = [x, y] }; r },
  "hash map" => ->(pr, a, k, kw) { k.map(&pr) },
  "inherited new" => ->(pr, a, k, kw) { c = Class.new(Sink); kw ? c.allocate.then { |o| o.send(:initialize, *a, **k); o.v } : c.allocate.then { |o| o.send(:initialize, *a, k); o.v } },
  "respond call" => ->(pr, a, k, kw) { l = method(:proc); l.call(&pr).call(*a, **k) },
  "Ractor-free instance_method(define)" => ->(pr, a, k, kw) { c = Class.new(Sink) { alias_method :mm, :m; define_method(:m2, Sink.instance_method(:m)) }; kw ? c.new.m2(*a, **k) : c.new.m2(*a, k) },
  "public_method" => ->(pr, a, k, kw) { m = S.public_method(:m); kw ? m.call(*a, **k) : m.call(*a, k) },
  "singleton_method" => ->(pr, a, k, kw) { o = Object.new; def o.q(*a, **k) = [a, k]; m = o.singleton_method(:q); kw ? m.call(*a, **k) : m.call(*a, k) },
  "super_method" => ->(pr, a, k, kw) { c = Class.new(Sink) { def m = 1 }; m = c.new.method(:m).super_method; kw ? m.call(*a, **k) : m.call(*a, k) },
  "Binding eval" => ->(pr, a, k, kw) { kw ? eval("S.m(*a, **k)") : eval("S.m(*a, k)") },
  "Set each" => ->(pr, a, k, kw) { require 'set'; Set[k].map(&pr) },
  "sort_by/min_by" => ->(pr, a, k, kw) { r = nil; [k].sort_by { |*x, **y| r = [x, y]; 1 }; r },
  "sum" => ->(pr, a, k, kw) { r = nil; [k].sum { |*x, **y| r = [x, y]; 1 }; r },
  "group_by" => ->(pr, a, k, kw) { [k].group_by(&pr) },
  "zip" => ->(pr, a, k, kw) { r = nil; [k].zip([1]) { |*x, **y| r = [x, y] }; r },
  "each_slice" => ->(pr, a, k, kw) { r = nil; [k].each_slice(1) { |*x, **y| r = [x, y] }; r },
  "Method-unbound owner" => ->(pr, a, k, kw) { [k].each_entry.map(&pr) },
}
doors.each do |n, d|
  [[SINK, "proc"], [LSINK, "lambda"]].each do |pr, pn|
    rows = [[[], {b: 2}, true], [[], {b: 2}, false], [[1], {b: 2}, true], [[1], {b: 2}, false], [[], {}, true], [[], {}, false], [[], {"s" => 1}, true], [[{a: 1}], {}, true]]
    puts "#{n}, #{pn}: " + rows.map { |a, k, kw| show { d.call(pr, a, k, kw) } }.join(" | ")
  end
end

# Nothing but a Proc, or what becomes one, is a block.
def block(&b) = b
[5, 0, -1, 2**70, 1.5, "s", [1]].each { |v| p((block(&v) rescue $!.class)) }
n = 5
p(([1].map(&n) rescue $!.class))
