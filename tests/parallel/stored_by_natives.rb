# Values that only this thread could reach go into objects that others may reach, by every way natives have; then
# much is allocated and collected; then all of it must still be there.
def fresh(i) = ["s#{i}", [i.to_s * 5, {"k#{i}" => ["v#{i}", :"y#{i}", i * 1.5e300]}]]

class Thing
  attr_accessor :a, :b
  def late=(v)
    @c1 = 1
    @c2 = @c3 = @c4 = @c5 = @c6 = 2
    @late = v
  end
  def late = @late
end
class Key
  attr_reader :n
  def initialize(n) = @n = n
  def hash = 7
  def eql?(o) = o.is_a?(Key) && o.n == n
end
Pair = Struct.new(:x, :y)
Wide = Struct.new(*(0...400).map { |i| :"m#{i}" })
Fixed = Data.define(:x)
class Zone
  def initialize(t) = @t = t
  def utc_to_local(t) = t + 3600
  def local_to_utc(t) = t - 3600
  def text = @t
end
class Holder
  @@cv = nil
  def self.cv=(v)
    @@cv = v
  end
  def self.cv = @@cv
  class << self
    attr_accessor :iv
  end
end

TESTS = []
def t(name, store, check) = TESTS << [name, store, check]
def id(v) = fresh(v).inspect

# --- Array
A = Array.new(400) { [] }
def arr(name, n, start = [], want = nil, &store)
  A[n].replace(start)
  t name, -> { store.call(A[n]) }, -> { A[n] == (want ? want.call : [fresh(n)]) }
end
arr("Array#[]= index", 0, [1]) { |a| a[0] = fresh(0) }
arr("Array#[]= beyond", 1, [], -> { [nil, nil, fresh(1)] }) { |a| a[2] = fresh(1) }
arr("Array#[]= start, length", 2, [1, 2, 3], -> { [1, fresh(2), 3] }) { |a| a[1, 1] = [fresh(2)] }
arr("Array#[]= range", 3, [1, 2, 3], -> { [1, fresh(3)] }) { |a| a[1..] = [fresh(3)] }
arr("Array#<<", 4) { |a| a << fresh(4) }
arr("Array#push", 5, [], -> { [fresh(5), fresh(6)] }) { |a| a.push(fresh(5), fresh(6)) }
arr("Array#unshift", 6, [9], -> { [fresh(6), 9] }) { |a| a.unshift(fresh(6)) }
arr("Array#insert", 7, [9, 8], -> { [9, fresh(7), 8] }) { |a| a.insert(1, fresh(7)) }
arr("Array#concat", 8, [], -> { [fresh(8), fresh(9)] }) { |a| a.concat([fresh(8)], [fresh(9)]) }
arr("Array#replace", 9) { |a| a.replace([fresh(9)]) }
arr("Array#fill", 10, [1, 2], -> { [fresh(10)] * 2 }) { |a| a.fill(fresh(10)) }
arr("Array#fill range", 11, [1], -> { [1, fresh(11), fresh(11)] }) { |a| a.fill(fresh(11), 1, 2) }
arr("Array#fill block", 12, [1, 2], -> { [fresh(0), fresh(1)] }) { |a| a.fill { |i| fresh(i) } }
arr("Array#map!", 13, [13]) { |a| a.map! { |i| fresh(i) } }
arr("Array#push in a loop", 14, [], -> { (0...40).map { |i| fresh(i) } }) { |a| 40.times { |i| a << fresh(i) } }
arr("Array#initialize_copy", 15) { |a| a.send(:initialize_copy, [fresh(15)]) }
arr("Array#slice! and []=", 16, [1, 2, 3], -> { [fresh(16), 2] }) { |a| a.slice!(2); a[0, 1] = [fresh(16)] }
arr("Array#flatten!", 17, [[1, [2]]], -> { [1, 2, *fresh(17).flatten] }) { |a| a << fresh(17); a.flatten! }
arr("Array#sort_by!", 18, [3, 1], -> { [1, 3, fresh(18)] }) { |a| a << fresh(18); a.sort_by! { |x| x.is_a?(Array) ? 9 : x } }
arr("Array#+= through", 19) { |a| a[0] ||= fresh(19) }
arr("Array#dig write", 20, [[[0]]], -> { [[[fresh(20)]]] }) { |a| a[0][0][0] = fresh(20) }
arr("Array initialize", 21, [], -> { [fresh(21)] * 3 }) { |a| a.send(:initialize, 3, fresh(21)) }

# --- Hash
H = Array.new(60) { {} }
H[6].compare_by_identity
def hsh(name, n, store, check) = t(name, -> { store.call(H[n]) }, -> { check.call(H[n]) })
hsh("Hash#[]=", 0, ->(h) { h[:a] = fresh(0) }, ->(h) { h[:a] == fresh(0) })
hsh("Hash#[]= again", 1, ->(h) { h[:a] = 1; h[:a] = fresh(1) }, ->(h) { h[:a] == fresh(1) })
hsh("Hash#[]= String key", 2, ->(h) { h["key" + 2.to_s * 30] = fresh(2) }, ->(h) { h["key" + "2" * 30] == fresh(2) && h.keys[0].frozen? })
hsh("Hash#[]= Array key", 3, ->(h) { h[fresh(3)] = 3 }, ->(h) { h[fresh(3)] == 3 && h.keys == [fresh(3)] })
hsh("Hash#[]= own key", 4, ->(h) { h[Key.new(fresh(4))] = fresh(5) }, ->(h) { h[Key.new(fresh(4))] == fresh(5) })
hsh("Hash#[]= own key again", 5, ->(h) { h[Key.new(1)] = 1; h[Key.new(1)] = fresh(5) }, ->(h) { h.values == [fresh(5)] })
hsh("Hash#[]= identity", 6, ->(h) { h["k" + "6"] = fresh(6) }, ->(h) { h.to_a == [["k6", fresh(6)]] })
hsh("Hash#store many", 7, ->(h) { 40.times { |i| h["n#{i}"] = fresh(i) } }, ->(h) { (0...40).all? { |i| h["n#{i}"] == fresh(i) } })
hsh("Hash#update", 8, ->(h) { h.update({"a#{8}" => fresh(8)}, {b: fresh(9)}) }, ->(h) { h == {"a8" => fresh(8), b: fresh(9)} })
hsh("Hash#update block", 9, ->(h) { h[:a] = 1; h.update(a: 2) { |*, n| fresh(n) } }, ->(h) { h == {a: fresh(2)} })
hsh("Hash#replace", 10, ->(h) { h.replace({"a#{1}" => fresh(10)}) }, ->(h) { h == {"a1" => fresh(10)} })
hsh("Hash#replace default", 11, ->(h) { h.replace(Hash.new(fresh(11))) }, ->(h) { h.default == fresh(11) })
hsh("Hash#default=", 12, ->(h) { h.default = fresh(12) }, ->(h) { h[:none] == fresh(12) })
hsh("Hash#default_proc=", 13, ->(h) { x = fresh(13); h.default_proc = ->(_, _) { x } }, ->(h) { h[:none] == fresh(13) })
hsh("Hash default block", 14, ->(h) { h.default_proc = ->(g, k) { g[k] = fresh(k) }; h[14] }, ->(h) { h.fetch(14) == fresh(14) })
hsh("Hash#transform_values!", 15, ->(h) { h[:a] = 15; h.transform_values! { |v| fresh(v) } }, ->(h) { h == {a: fresh(15)} })
hsh("Hash#transform_keys!", 16, ->(h) { h[16] = 1; h.transform_keys! { |v| fresh(v) } }, ->(h) { h == {fresh(16) => 1} })
hsh("Hash#rehash", 17, ->(h) { k = [1]; h[k] = fresh(17); k << fresh(18); h.rehash }, ->(h) { h[[1, fresh(18)]] == fresh(17) })
hsh("Hash#[]= in each", 18, ->(h) { h[:a] = 1; h.each { |k, _| h[k] = fresh(18) } }, ->(h) { h == {a: fresh(18)} })
hsh("Hash#compare_by_identity", 19, ->(h) { h.compare_by_identity; h["x".dup] = fresh(19) }, ->(h) { h.to_a == [["x", fresh(19)]] })
hsh("Hash#merge! many", 20, ->(h) { h.merge!((0...30).to_h { |i| [fresh(i), fresh(i + 1)] }) }, ->(h) { (0...30).all? { |i| h[fresh(i)] == fresh(i + 1) } })
hsh("Hash#shift and store", 21, ->(h) { h[:a] = 1; h.shift; h[:b] = fresh(21) }, ->(h) { h == {b: fresh(21)} })
hsh("Hash#to_h in place", 22, ->(h) { h.replace([1, 2].to_h { |i| ["k#{i}", fresh(i)] }) }, ->(h) { h == {"k1" => fresh(1), "k2" => fresh(2)} })

# --- Set, Struct, Data, Range
S = Set.new
t "Set#add", -> { S.add(fresh(1)); S << fresh(2); S.add?(fresh(3)); S.merge([fresh(4), "m#{5}"]) }, -> { S == Set[fresh(1), fresh(2), fresh(3), fresh(4), "m5"] }
P = Array.new(6) { Pair.new }
t "Struct#[]=", -> { P[0][:x] = fresh(1); P[0]["y"] = fresh(2) }, -> { P[0].to_a == [fresh(1), fresh(2)] }
t "Struct writer", -> { P[1].x = fresh(1); P[1].y = fresh(2) }, -> { P[1] == Pair.new(fresh(1), fresh(2)) }
t "Struct#initialize", -> { P[2].send(:initialize, fresh(1), fresh(2)) }, -> { P[2].to_a == [fresh(1), fresh(2)] }
t "Struct#initialize_copy", -> { P[3].send(:initialize_copy, Pair.new(fresh(1), fresh(2))) }, -> { P[3].to_a == [fresh(1), fresh(2)] }
W = [Wide.new, nil, nil]
t "wide Struct", -> { W[0].m399 = fresh(1); W[1] = Wide.new(*(0...400).map { |i| fresh(i) }); W[2] = W[1].dup }, -> { W[0].m399 == fresh(1) && W[2].to_a == (0...400).map { |i| fresh(i) } && W[1] == W[2] }
D = []
t "Data.new", -> { D << Fixed.new(fresh(1)) << Fixed.new(x: fresh(2)) << Fixed.new(3).with(x: fresh(3)) }, -> { D.map(&:x) == [fresh(1), fresh(2), fresh(3)] }
R = []
t "Range", -> { R << (("a" + "a")..("a" + "z")) << Range.new("x" + 1.to_s, "x" + 9.to_s, true) }, -> { R.inspect == '["aa".."az", "x1"..."x9"]' }

# --- variables
O = Array.new(12) { Thing.new }
t "attr_writer", -> { O[0].a = fresh(0) }, -> { O[0].a == fresh(0) }
t "instance_variable_set", -> { O[1].instance_variable_set(:@q, fresh(1)) }, -> { O[1].instance_variable_get(:@q) == fresh(1) }
t "late variables", -> { O[2].late = fresh(2) }, -> { O[2].late == fresh(2) }
t "instance_exec", -> { x = fresh(3); O[3].instance_exec { @a = x } }, -> { O[3].a == fresh(3) }
t "||=", -> { O[4].a ||= fresh(4) }, -> { O[4].a == fresh(4) }
STR = "text".dup
t "variables of a String", -> { STR.instance_variable_set(:@q, fresh(5)) }, -> { STR.instance_variable_get(:@q) == fresh(5) }
t "variables of an Array", -> { A[30].instance_variable_set(:@q, fresh(6)) }, -> { A[30].instance_variable_get(:@q) == fresh(6) }
t "variables of a private String", -> { A[31] << "s#{31}".tap { |s| s.instance_variable_set(:@q, fresh(7)) } }, -> { A[31][0].instance_variable_get(:@q) == fresh(7) }
t "class variable", -> { Holder.cv = fresh(8); Holder.class_variable_set(:@@dv, fresh(9)) }, -> { Holder.cv == fresh(8) && Holder.class_variable_get(:@@dv) == fresh(9) }
t "variable of a class", -> { Holder.iv = fresh(10); Holder.instance_variable_set(:@w, fresh(11)) }, -> { Holder.iv == fresh(10) && Holder.instance_variable_get(:@w) == fresh(11) }
t "constants", -> { Holder.const_set(:C1, fresh(12)); Object.const_set(:C2, fresh(13)) }, -> { Holder::C1 == fresh(12) && C2 == fresh(13) }
t "globals", -> { $glob = fresh(14); $other_glob ||= fresh(15) }, -> { $glob == fresh(14) && $other_glob == fresh(15) }
t "remove_instance_variable", -> { o = O[5]; o.a = fresh(1); o.b = fresh(2); o.remove_instance_variable(:@a) }, -> { O[5].b == fresh(2) && O[5].a.nil? }

# --- methods, procs, classes
t "define_method", -> { x = fresh(1); Thing.define_method(:captured) { x } }, -> { O[0].captured == fresh(1) }
t "define_singleton_method", -> { x = fresh(2); O[6].define_singleton_method(:own) { x } }, -> { O[6].own == fresh(2) }
t "singleton of a private object", -> { o = Thing.new; o.a = fresh(3); def o.own = @a; A[32] << o }, -> { A[32][0].own == fresh(3) }
t "extend", -> { x = fresh(4); O[7].extend(Module.new { define_method(:mixed) { x } }) }, -> { O[7].mixed == fresh(4) }
t "Class.new", -> { x = fresh(5); A[33] << Class.new(Thing) { define_method(:z) { x }; const_set(:K, x) } }, -> { A[33][0].new.z == fresh(5) && A[33][0]::K == fresh(5) }
t "clone of a class", -> { A[34] << Holder.clone << Holder.dup; A[34][0].iv = fresh(6); A[34][1].cv = fresh(8) }, -> { A[34][0].iv == fresh(6) && Holder.cv == fresh(8) }
t "Method and UnboundMethod", -> { o = Thing.new; o.a = fresh(7); A[35] << o.method(:a) << Thing.instance_method(:a).bind(o) << o.method(:a).to_proc << o.method(:a).unbind.bind(o) }, -> { A[35].all? { |m| m.call == fresh(7) } }
t "Proc", -> { x = fresh(8); A[36] << -> { x } << proc { |y| [x, y] }.curry[1] << :itself.to_proc }, -> { A[36][0].call == fresh(8) && A[36][1] == [fresh(8), 1] }
counter = nil
SETTER = ->(v) { counter = v }
GETTER = -> { counter }
t "captured variable of a shared Proc", -> { SETTER.(fresh(9)) }, -> { GETTER.() == fresh(9) }
B = binding
t "Binding", -> { B.local_variable_set(:counter2, fresh(10)) }, -> { B.local_variable_get(:counter2) == fresh(10) }
t "dup and clone", -> { o = Thing.new; o.late = fresh(11); A[37] << o.dup << o.clone << fresh(12).dup << {a: fresh(13)}.dup << Pair.new(fresh(14)).dup }, -> { A[37][0].late == fresh(11) && A[37][1].late == fresh(11) && A[37][2..] == [fresh(12), {a: fresh(13)}, Pair.new(fresh(14))] }

# --- tables outside the heap
KEYS = []
WM = ObjectSpace::WeakMap.new
WKM = ObjectSpace::WeakKeyMap.new
t "WeakMap", -> { k, v = fresh(1), fresh(2); WM[k] = v; KEYS << k << v }, -> { WM[KEYS[0]].equal?(KEYS[1]) && WM[KEYS[0]] == fresh(2) }
t "WeakKeyMap", -> { k = "key#{1}"; WKM[k] = fresh(3); KEYS << k }, -> { WKM["key1"] == fresh(3) }
def weak_of_dead = (WM["dead#{1}"] = fresh(1); WKM["dead#{2}"] = fresh(1); nil)
t "weak tables of the dead", -> { 50.times { weak_of_dead } }, -> { WM.size <= 1 + 50 && WM.values.all?(Array) && WKM.inspect.is_a?(String) }
t "object_id", -> { o = fresh(4); o << o.object_id; A[38] << o }, -> { A[38][0].pop == A[38][0].object_id && ObjectSpace._id2ref(A[38][0].object_id).equal?(A[38][0]) }
t "finalizer", -> { x = fresh(5); ObjectSpace.define_finalizer(O[8], ->(_) { x.size }) }, -> { ObjectSpace.undefine_finalizer(O[8]).equal?(O[8]) }
t "trap", -> { x = fresh(6); trap("USR1") { $trapped = x } }, -> { Process.kill("USR1", Process.pid); sleep 0.01 until $trapped; $trapped == fresh(6) }
t "-String and Symbol", -> { A[39] << -("f#{1}" * 20) << "sym#{2}".to_sym << "sym#{3}".to_sym.name }, -> { A[39][0].equal?(-("f1" * 20)) && A[39][1] == :sym2 && A[39][2].equal?(:sym3.name) }
class Sink
  attr_reader :got
  def initialize = @got = []
  def write(*s) = @got.concat(s.map(&:dup)).size
end
t "$stdout", -> { $old, $stdout = $stdout, Sink.new; print "x#{7}\n" }, -> { s, $stdout = $stdout, $old; s.got.join == "x7\n" }
t "$,", -> { $; = nil; $/ = "\n".dup }, -> { $/ == "\n" }
READ, WRITE = IO.pipe
t "IO", -> { READ.timeout = 2.5e300.to_i; READ.set_encoding("UTF-16LE", "UTF-8", undef: :replace, replace: "r#{1}") }, -> { READ.timeout == 2.5e300.to_i && READ.external_encoding.name == "UTF-16LE" }
TIME = Time.at(0)
t "Time", -> { A[40] << Time.at(0, in: Zone.new("z#{1}")) << Time.at(Rational(1, 3)); TIME.localtime("+01:00") }, -> { A[40][0].zone.text == "z1" && A[40][1].subsec == Rational(1, 3) && TIME.utc_offset == 3600 }
t "MatchData", -> { A[41] << "ab#{1}cd".match(/b(?<n>.)/) << "x#{2}".match("2"); A[41][1].regexp }, -> { A[41][0][:n] == "1" && A[41][0].pre_match == "a" && A[41][1].regexp == /2/ && A[41][1].string == "x2" }
t "Random, Comparable numbers", -> { A[42] << Random.new(3) << 10**40 << Rational(3**50, 7) << Complex(1.5e300, 2**80) }, -> { A[42][0].seed == 3 && A[42][1] == 10**40 && A[42][2] == Rational(3**50, 7) && A[42][3] == Complex(1.5e300, 2**80) }
t "Marshal", -> { A[43] << Marshal.load(Marshal.dump([fresh(1), Pair.new(fresh(2), 3), O[2], Hash.new(fresh(4)), Key.new(fresh(5))])) }, -> { A[43][0][0] == fresh(1) && A[43][0][1].x == fresh(2) && A[43][0][2].late == fresh(2) && A[43][0][3].default == fresh(4) && A[43][0][4].n == fresh(5) }
t "exceptions", -> { begin; begin; raise "in#{1}"; rescue; raise ArgumentError, "out#{2}"; end; rescue => e; A[44] << e; end; A[44] << RuntimeError.new(fresh(3)).exception("e#{4}") }, -> { A[44][0].message == "out2" && A[44][0].cause.message == "in1" && A[44][0].backtrace.size > 0 && A[44][1].message == "e4" }
t "KeyError and NameError", -> { begin; {fresh(1) => 1}.fetch(fresh(2)); rescue KeyError => e; A[45] << e; end; begin; fresh(3).nothing_here; rescue NameError => e; A[45] << e; end }, -> { A[45][0].key == fresh(2) && A[45][0].receiver == {fresh(1) => 1} && A[45][1].receiver == fresh(3) }
t "caller's frames", -> { A[46] << caller_locations(0) << caller(0) }, -> { A[46].flatten.all? { |l| l.to_s.include?("stored_by_natives") } }

# --- threads and fibers
t "thread's argument and value", -> { A[47] << Thread.new(fresh(1)) { |x| [x, fresh(2)] } }, -> { A[47][0].value == [fresh(1), fresh(2)] }
t "thread's variables", -> { th = Thread.current; th[:x] = fresh(3); th.thread_variable_set(:y, fresh(4)); th.name = "n#{5}" }, -> { th = Thread.current; th[:x] == fresh(3) && th.thread_variable_get(:y) == fresh(4) && th.name == "n5" }
Q = Queue.new
SQ = SizedQueue.new(9)
t "Queue", -> { Q << fresh(5); Q.push(fresh(6)); SQ << fresh(7) }, -> { [Q.pop, Q.shift, SQ.pop] == [fresh(5), fresh(6), fresh(7)] }
t "Thread#raise", -> { A[48] << Thread.new { Thread.stop; 1 }.tap { |x| sleep 0.001 until x.stop?; x.report_on_exception = false; x.raise(RuntimeError, "r#{8}") } }, -> { begin; A[48][0].value; rescue => e; e.message == "r8"; end }
t "Fiber", -> { A[49] << Fiber.new { |x| y = Fiber.yield([x, fresh(9)]); [x, y] }; A[49] << A[49][0].resume(fresh(10)) }, -> { A[49][1] == [fresh(10), fresh(9)] && A[49][0].resume(fresh(11)) == [fresh(10), fresh(11)] }
t "Fiber storage", -> { Fiber[:stored] = fresh(12) }, -> { Fiber[:stored] == fresh(12) }
t "Enumerator", -> { A[50] << [fresh(1), fresh(2)].each << Enumerator.new { |y| y << fresh(3); y << fresh(4) }; A[50][0].next; A[50][1].next }, -> { A[50][0].next == fresh(2) && A[50][1].next == fresh(4) }
t "Lazy", -> { A[51] << (1..3).lazy.map { |i| fresh(i) } }, -> { A[51][0].to_a == [fresh(1), fresh(2), fresh(3)] }
t "catch", -> { tag = fresh(1); A[52] << catch(tag) { throw tag, fresh(2) } }, -> { A[52] == [fresh(2)] }
t "Thread handed over", -> { q = Queue.new; A[53] << Thread.new { v = q.pop; v << fresh(2); v }; q << [fresh(1)] }, -> { A[53][0].value == [fresh(1), fresh(2)] }

def churn(n)
  keep = nil
  n.times { |i| keep = [i, "garbage #{i}", {i => [i.to_s]}] }
  keep
end
TESTS.each { |_, store, _| store.call }
churn(5000)
GC.start
churn(5000)
Thread.new { churn(2000) }.join
GC.start
bad = TESTS.reject { |name, _, check| check.call rescue (warn "#{name}: #{$!.full_message}"; false) }
bad.each { |name, *| puts "lost: #{name}" }
puts "#{TESTS.size - bad.size} kept"
