# Calls that make fewer objects than they seem to: literal keys, interpolation, lists asked for their extremes, keywords of
# blocks, instance_exec, enumerators, rest parameters that are passed on. They answer as if all were made.
# literal keys
h = {"a" => 1}
p h["a"], h["zz"]
d = Hash.new { |hh, k| hh[k] = [k, k.frozen?]; k }
p d["b"].size
i = {}.compare_by_identity; i["a".freeze] = 1
p i["a"]
class O; def [](k) = k + "!"; end
o = O.new
2.times { p o["a"] }
p "hello"["ell"], ENV["NOPE"]
class H2 < Hash; def [](k) = super(k.dup << "1"); end
h2 = H2.new; h2["q1"] = 5; p h2["q"]
hd = Hash.new(7); p hd["none"]
# interpolation
p "#{1}", "#{-12}", "#{:sym}", "#{nil}", "#{:"é"}x", "é#{5}", "#{1}".encoding, "#{:a}".encoding, "#{nil}".encoding, "#{:é}".encoding, "a#{1}".encoding, "é#{1}".encoding, "#{2**62}", "#{-2**62}", "#{2**64}", "#{4611686018427387903}", "#{-4611686018427387904}"
p :"a#{1}", /a#{1}/, /#{1}/, /#{:x}/
class Integer; alias own_to_s to_s; def to_s = "int"; end
p "#{1}"
class Integer; alias to_s own_to_s; end

p "#{:a}"
# lists
p [3, 1, 2].max, [3, 1].min, [].max, [].min, ["b", "a"].min, [1, 2.5].max, [1].max, [nil].max
p (([1, nil].max) rescue $!.message), (([1, "a"].min) rescue $!.message)
p [1, 2].include?(2), [1, 2].include?(2.0), [1, "x"].include?("x"), [].include?(1), [nil].include?(nil)
p [1, 2].hash == [1, 2].dup.hash, ["a", 1.5].hash == ["a", 1.5].dup.hash, [].hash == Array.new.hash, [[1], {a: 1}].hash == [[1], {a: 1}].dup.hash
class W; attr_reader :v; def initialize(v) = @v = v; def <=>(o) = @v <=> o.v; def ==(o) = true; def hash = 7; end
p [W.new(1), W.new(3)].max.v, [W.new(1), W.new(3)].min.v, [W.new(1)].include?(5), [W.new(1)].hash == [W.new(2)].hash
class Array; alias old max; def max = :mine; end
p [1, 2].max
class Array; def include?(x) = :incl; def hash = 5; end
p [1].include?(1), [1].hash
x = [1, 2].max { |a, b| b <=> a }; p x
# keywords
l = ->(a:, b: 2) { [a, b] }
2.times { p l.call(a: 1), l.(a: 1, b: 3), l[a: 5], (l.(c: 1) rescue $!.message), (l.(a: 1, z: 1) rescue $!.message) }
def y2 = yield(1, a: 2)
2.times { p y2 { |x, a:| [x, a] }, y2 { |x, a: 1, b: 3| [x, a, b] }, y2 { |x| x }, y2 { |x, y| [x, y] }, y2 { |*r, **k| [r, k] }, (y2 { |a:| a }) }
def y3 = yield([1, 2], a: 2)
p y3 { |x, a:| [x, a] }, y3 { |x, y, a:| [x, y, a] }
def z = [1].each { |q| return y2 { |x, a:| return a; 1 } }
p z
pr = proc { |x, a: 1, &b| [x, a, b&.call] }
2.times { p pr.call(1, a: 3), pr.call(1, a: 3) { 9 } }
c = 5
k = ->(a: c) { c += a; binding.local_variables.size }
p k.(a: 1), c
# instance_exec
class Z; def initialize = @q = 3; end
p Z.new.instance_exec(1) { |v| [v, @q, self.class] }, Z.new.instance_eval { @q }, Z.class_eval { self }, Z.class_exec(2) { |v| def m5 = 5; v }, Z.new.m5
def ie(&b) = Z.new.instance_exec(4, &b)
p ie { |v| [v, @q] }, ie(&:to_s).class, ie(&->(v) { [v, @q] })
def brk = Z.new.instance_eval { return 42 }
p brk
p Z.new.instance_exec { next 5 }, [1].each { Z.new.instance_exec { break 6 } }
p Z.new.instance_exec { Z.new.instance_exec { [1].map { |v| v + @q } } }
def yl; Z.new.instance_eval { yield 1 }; end
p yl { |v| v + 1 }
# enumerators
e = [1, 2, 3].each
p e.size, e.inspect, e.each_slice(2).size, 5.times.size, 1.upto(4).size, 4.downto(1).size, [1, 2].cycle.size, [1, 2].cycle(3).size, [4].each_with_object(1).size, {a: 1}.each.size, [1].each_with_index.inspect, 1.upto(3).inspect
p (1..3).lazy.each_with_index.to_a, (1..3).lazy.map { |x| x * 2 }.first(2), [1].lazy.each_entry.to_a
p e.next, e.next, e.next, (e.next rescue $!.class)
p [4, 5].each.with_index(1).to_a, [4, 5].map.with_index { |a, b| a * b }, [3, 4].each_with_index.to_a
def each_two; return to_enum(:each_two) { 2 } unless block_given?; yield 1, 2; yield; yield nil; yield [5]; yield [6, 7]; yield({a: 1}); end
t = to_enum(:each_two)
p t.to_a, t.map { |*x| x }, t.include?(nil), t.each_with_index.to_a, t.select { |x| true }, t.select { |x, y| y }, t.each_entry.to_a, t.first(3), t.min_by { |x| x.to_s }, t.group_by { |x| x.class }, t.each_slice(2).to_a, t.inject { |a, b| [a, b] }, t.sort_by { |x| x.to_s }, t.count { |x| x }, t.find { |a, b| b }, t.partition { |a, b| b }, t.zip([1, 2]), t.tally, t.uniq, t.to_set.size, t.reverse_each.to_a, t.take_while { |x| true }, t.drop_while { |a| a }, t.each_cons(2).to_a, t.reject { |a, b| b }, t.filter_map { |a, b| b }, t.flat_map { |a, b| [a, b] }, t.reduce(:==), t.chunk_while { |a, b| true }.to_a
p t.each_entry { |*x| p x }.class
p t.next, t.next, t.next, t.next_values, t.next_values
p [1].each_entry(*[]).to_a, [5, 6].each_with_index.with_index(2).to_a
# struct
S = Struct.new(:a, :b); K = Struct.new(:a, :b, keyword_init: true)
p S.new(1), S.new(1, 2), S.new(a: 1), S.new({a: 1}), (S.new(1, 2, 3) rescue $!.message), (S.new(1, 2, a: 3) rescue $!.message), S.new(1, a: 3), K.new(a: 1), K.new({a: 1}), (K.new(1) rescue $!.message), (K.new(c: 1, d: 2) rescue $!.message), K.new, S.new
p S.new([1, {x: 5}]).dig(:a, 1, :x), (S.new(1).dig(:a, 1) rescue $!.message), S.new(1, 2).each_pair.to_a, S.new(1, 2).each_pair { |x| p x }.class, S.new(1, 2).to_h { |a, b| [b, a] }, S.new(1, 2).to_h, S.new(1, 2).values_at(0, -1, 0..1)
p({a: {b: [1, {c: 2}]}}.dig(:a, :b, 1, :c), ({a: 1}.dig(:a, :b) rescue $!.message), [[{a: 1}]].dig(0, 0, :a))
p({a: 1, b: 2}.any? { |k, v| v == 2 }, {a: 1}.any? { |x| x == [:a, 1] }, {a: 1}.map { |k, v| [k, v] }, {a: 1}.map { |x| x }, {a: 1}.map { |k, (v, w)| [k, v, w] }, {a: 1}.map(&->(k, v) { v }), {a: 1}.map { |k, v = 9| [k, v] }, {a: 1}.map { |*r| r }, {a: 1}.any? { |*r| p r })
p({a: 1}.merge({b: 2}, {c: 3}), {a: 1}.merge, {a: 1}.merge({a: 2}) { |k, x, y| [k, x, y] }, {a: 1, b: 2}.slice(:a), {a: 1, b: 2}.except(:a), {a: 1}.values_at(:a, :z), {a: 1}.fetch_values(:a), ({a: 1}.fetch_values(:z) rescue $!.message), {a: 1}.fetch_values(:z) { |k| k }, {a: 1}.update({a: 3}, {b: 4}))
# super
class U; def m(*a, **k, &b) = [a, k, b&.call]; end
class V < U; def m(*a, **k, &b) = super; end
class V2 < U; def m(*a) = super; end
class V3 < U; def m(*a); a << 9; super; end; end
class V4 < U; def m(*a); a = nil; super; end; end
class V5 < U; def m(*a); a = {x: 1}; super; end; end
class V6 < U; def m(**k); k[:z] = 1; super; end; end
class V7 < U; def m(*a, **k); k = nil; super; end; end
class V8 < U; def m(*); super; end; end
class V9 < U; def m(**); super; end; end
class V10 < U; def m(*a) = [1].map { super }; end
p V.new.m(1, a: 2) { 3 }, V2.new.m(1, {a: 1}), V2.new.m, V3.new.m(1), V4.new.m(1), V5.new.m(1), V6.new.m(a: 1), V6.new.m, V7.new.m(1, b: 1), V8.new.m(1, 2), V9.new.m(q: 1), V10.new.m(1), V.new.m
hh = {a: 1}; r = V.new.m(**hh); r[1][:q] = 1; p hh
