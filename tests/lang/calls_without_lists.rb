# Calls that take lists, pairs or blocks and make nothing of their own for them answer as if they did.
class MV; include Enumerable; def each; yield 1, 2; yield 3, 4; yield 0; yield; self; end; end
class M2; include Enumerable; def each; yield 1, 2; yield 3, 4; yield 0, 1; self; end; end
class SV; include Enumerable; def each; yield 3; yield 1; yield 2; self; end; end
def t; p yield; rescue => e; p [e.class, e.message.lines.first.chomp.sub(/ for .*/, "")]; end
h = {a: 3, b: 1}
t { h.min_by { |k, v| v } }; t { h.max_by { |k, v| v } }; t { h.min_by { |x| x[1] } }; t { h.min_by(&->(k, v) { v }) }; t { h.min_by(&->(x) { x[1] }) }; t { h.min_by(&:last) }
t { h.max_by(1) { |k, v| v } }; t { h.min_by(1, &:last) }; t { {}.min_by { |k, v| v } }; t { h.min_by.class }; t { h.min_by(&proc { |k, v| v }) }
t { M2.new.min_by { |a, b| -a } }; t { M2.new.max_by { |a| a } }; t { M2.new.min_by(&->(a, b) { b }) }; t { M2.new.min_by(&->(a) { a }) }; t { M2.new.minmax_by { |a, b| b } }
t { MV.new.min_by { |a| a.to_s } }; t { SV.new.min_by { |a| a } }; t { SV.new.max_by { |a| a } }; t { SV.new.min_by(2) { |a| a } }; t { SV.new.min_by(&:-@) }
t { [].min_by { } }; t { [3, 1].min_by(&:-@) }; t { [[1, 2], [0, 3]].min_by { |a, b| b } }; t { [nil, 1].min_by { |x| x } }; t { SV.new.min_by { |x| x == 3 ? "a" : x } }
# sum
t { h.sum { |k, v| v } }; t { h.sum { |x| x[1] } }; t { h.sum(&->(k, v) { v }) }; t { h.sum(&->(x) { x[1] }) }; t { h.sum(0.0) { |k, v| v } }; t { h.sum { |k, v| v / 2.0 } }; t { h.sum([]) }; t { h.sum([]) { |k, v| [v] } }
t { SV.new.sum }; t { SV.new.sum(1) }; t { SV.new.sum(1.5) }; t { SV.new.sum { |x| x * 0.1 } }; t { SV.new.sum("") { |x| x.to_s } }; t { SV.new.sum { |x| x.to_s } }; t { SV.new.sum { |x| x == 1 ? 0.1 : x } }; t { SV.new.sum { |x| x.to_r / 3 } }
t { M2.new.sum { |a, b| b } }; t { M2.new.sum([]) }; t { (1..3).sum { |x| x * 2 } }; t { (1..3).sum { |x| 2**62 } }; t { [0.1, 0.2, 0.3].each_entry.sum }; t { [3, 0.1, 0.2].each_entry.sum }; t { (1..0).sum { |x| x } }; t { SV.new.sum(nil) }; t { [1, 2r, 3.5, 1i].each_entry.sum }
t { SV.new.sum { |x| break x } }
# zip
t { [1, 2].zip([3, 4]) { |a, b| p [a, b] } }; t { [1, 2].zip([3]) { |x| p x } }; t { [[1, 2]].zip { |a, b| p [a, b] } }; t { [[1, 2]].zip([[3, 4]]) { |a, b| p [a, b] } }; t { [[1, 2]].zip([[3, 4]]) { |(a, b), (c, d)| p [a, b, c, d] } }
t { [1, 2].zip(3..9) }; t { [1, 2].zip(3..9, [5]) { |a, b, c| p [a, b, c] } }; t { [1, 2].zip(SV.new) { |a, b| p [a, b] } }; t { [1, 2].zip(M2.new) }; t { [1, 2].zip(5) }; t { [1, 2].zip(3..) }; t { [].zip(3..) }; t { [1, 2].zip({a: 1}) }; t { [1].zip([2]) { |a, b| break a } }
o = Object.new; def o.each; yield 9; yield 8, 7; end; t { [1, 2, 3].zip(o) }; t { SV.new.zip(o) }; t { SV.new.zip([1], 2..3) }; t { SV.new.zip([1]) { |a, b| p [a, b] } }; t { SV.new.zip(4) }; t { M2.new.zip([1, 2]) }; t { [1, 2].zip([3, 4], &->(a, b) { p [a, b] }) }; t { [1, 2].zip([3, 4], &->(a) { p a }) }; t { [1].zip([3], &:first) }; t { [1].zip([2], [3]) { |a, b| p [a, b] } }
a = [1, 2, 3]; t { a.zip([4, 5, 6]) { |x, y| a.clear; p [x, y] } }
src = [7]; oo = [[1], src]; t { oo[0].zip(*oo) }; t { oo }
args = [3..5]; t { [1].zip(*args) }; t { args }
# slices
t { [1, 2, 3].each_slice(2).size }; t { [1, 2, 3].each_cons(2).size }; t { [1].each_cons(2).size }; t { [1, 2, 3].each_slice(2).inspect }; t { SV.new.each_slice(2).size }; t { SV.new.each_slice(2).to_a }; t { SV.new.each_cons(2).to_a }; t { SV.new.cycle.size }; t { SV.new.cycle(2).to_a }; t { (1..4).each_slice(3).size }; t { (1..4).cycle(2).size }; t { [1, 2, 3].each_slice(2).with_index.to_a }; t { [1].each_slice(0) }; t { (1..3).lazy.each_slice(2).to_a }; t { (1..3).lazy.each_slice(2).size }; t { [1, 2].each_slice(2).next }; t { (1..Float::INFINITY).each_slice(2).first }
# min(n)
t { [3, 1, 2].min(2) }; t { [3, 1, 2].max(2) }; t { [3, 1, 2].min(9) }; t { [3, 1, 2].max(0) }; t { [3, 1].min(-1) }; t { [3, 1, 2].min(2) { |a, b| b <=> a } }; t { [3, 1, 2].max(2) { |a, b| b <=> a } }; t { ["a", 1].max(1) }; t { (1..5).max(2) }; t { SV.new.min(2) }; t { SV.new.max(2) { |a, b| b <=> a } }; t { [1, 2].max(1, &->(a, b) { a <=> b }) }; t { [1, 2, 3].max(2) { |a, b| break a } }
class A3 < Array; def sort = [:mine]; def -(o) = :minus; def |(o) = :or; def &(o) = :and; end
t { A3[3, 1].min(1) }; t { A3[3, 1].difference([1]) }; t { A3[3, 1].union([1], [9]) }; t { A3[3, 1].intersection([1]) }; t { A3[3, 1].difference.class }; t { A3[3, 1].union.class }; t { A3[3, 1].intersection.class }
t { [1, 2, 3].difference([1], [2]) }; t { [1, 1].union }; t { [1, 1].intersection }; t { [1, 1].difference }; t { [1, 1].union([2, 2], [3]) }; t { [1, 1, 2].intersection([1]) }; t { [1].difference(3) }; t { [1].union([2], nil) }; t { x = [1, 2]; x.difference.equal?(x) }; t { x = [1, 2]; x.difference([]).equal?(x) }
t { [1, 2].product }; t { [1, 2].product([3], [4, 5]) }; t { [1, 2].product([]) }; t { [1, 2].product([3]) { |x| p x } }; t { [1].product(3) }; t { [1, 2].product([3, 4]) { |a, b| p [a, b] } }
# sub, gsub
t { "hello".gsub("l") { |m| m.upcase } }; t { "hello".gsub(/l/) { $&.upcase + $~[0] } }; t { "hello".sub("l") { $` } }; t { "hello".gsub(/l/) }; t { "hello".gsub(/l/).to_a }; t { "hello".sub("l") }; t { "hello".gsub(/(l)/) { $1 + "!" } }; t { "hello".gsub("l", &:upcase) }; t { "hello".gsub(/l/, &->(m) { m * 2 }) }; t { s = +"hello"; s.gsub!("l") { "L" }; s }; t { s = +"hello"; s.sub!("l") { "L" } }; t { s = +"hello"; s.gsub!("z") { "L" } }; t { "hello".gsub("l", "l" => "1") }; t { "hello".gsub("l") { break 5 } }; t { "hello".gsub(/l/) { next 5 } }
def g(s, &b) = s.gsub(/l/, &b)
t { g("hello") { $& + "2" } }; t { g("hello").class }; t { s = +"ab"; s.gsub!(/a/) { s << "x"; "y" } }; t { "hello".gsub(/l/, "x") { 1 } }; t { "hello".freeze.sub!("l") { "x" } }; t { "abc".gsub(/b/) { [1].each { |x| }; $~.pre_match } }
# step
t { 1.step(9, 4) { |x| p x } }; t { 1.step(by: 2, to: 5) { |x| p x } }; t { 1.step(2, 0.5) { |x| p x } }; t { 1.step(9, 4, &:succ) }; t { 1.step(9, 4) { |x| break x } }; t { (1..9).step(4) { |x| p x } }; t { (1.0..2.0).step(0.5) { |x| p x } }; t { ("a".."e").step(2) { |x| p x } }; t { (1..9) % 4 }; t { ((1..9) % 4).to_a }; t { ((1..9).%(4) { |x| p x }) }; t { ("a".."e").step(2).to_a }; t { 1.step(3, &->(x) { p x }) }; t { 5.step(1, -2).to_a }; t { ("a".."e").step(2) { |x| break x } }
# hash
t { Hash[[[1, 2], [3, 4]]] }; t { Hash[1, 2, 3, 4] }; t { Hash[{a: 1}] }; t { Hash[1, 2, 3] }; t { Hash[[[1]]] }; t { Hash[[1]] }; t { Hash[[[1, 2, 3]]] }; t { Hash[5] }; t { Hash[[]] }; t { Hash[] }; t { Hash[[], 1] }; t { Hash[a: 1] }
t { {a: 1, b: 2}.transform_keys!(&:to_s) }; t { {a: 1, b: 2}.transform_keys!({a: :b}) }; t { {a: 1, b: 2, c: 3}.transform_keys! { |k| {a: :b, b: :c, c: :d}[k] } }; t { {1 => :a, 2 => :b, 3 => :c}.transform_keys!(&:succ) }; t { q = {a: 1, b: 2}; q.transform_keys! { |k| break if k == :b; k.to_s }; q }; t { q = {a: 1, b: 2}; q.transform_keys! { |k| q[:z] = 1; k.to_s }; q }; t { q = {a: 1}.compare_by_identity; q.transform_keys!(&:to_s); q.compare_by_identity? }; t { {a: 1}.freeze.transform_keys!(&:to_s) }
# dig
class HD < Hash; def [](k) = 5; end
class HX; def dig(*a) = a; end
class HM; def method_missing(n, *a) = [n, a]; def respond_to_missing?(n, p = false) = n == :dig; end
t { HD.new.dig(:a) }; t { HD.new.dig(:a, :b) }; t { {a: {b: {c: 1}}}.dig(:a, :b, :c) }; t { {a: {b: [1, {c: 2}]}}.dig(:a, :b, 1, :c) }; t { {a: 1}.dig(:a, :b) }; t { {a: 1}.dig(:a, :b, :c) }; t { {a: nil}.dig(:a, :b) }; t { {}.dig }; t { Hash.new { |h, k| {z: k} }.dig(:q, :z) }; t { Hash.new { |h, k| k }.dig(:q) }; t { Hash.new({z: 1}).dig(:q, :z) }; t { {a: HX.new}.dig(:a, 1, 2) }; t { {a: HM.new}.dig(:a, 1, 2) }; t { {[1] => {b: 2}}.dig([1], :b) }; t { {1.0 => {b: 2}}.dig(1.0, :b) }; t { {"x" => {b: 2}}.dig("x", :b) }
class HDef < Hash; def default(k = nil) = {z: k}; end
t { HDef.new.dig(:q, :z) }; t { HDef.new.dig(:q) }; class HK; def hash = 1; def eql?(o) = true; end; t { {HK.new => {b: 2}}.dig(HK.new, :b) }
t { {a: Struct.new(:b).new({c: 1})}.dig(:a, :b, :c) }; class HB < BasicObject; def dig(*a) = a; end; t { {a: HB.new}.dig(:a, 1) }
class HP; private def dig(*a) = a; end; t { {a: HP.new}.dig(:a, 1) }
# conversions
class TA; def to_ary = [1, 2]; end; class TB; def to_ary = 5; end
t { [1].flat_map { TA.new } }; t { [1].flat_map { TB.new } }; t { Array(TA.new) }; t { Array(5) }; t { Array(TB.new) }; t { [1] + 5 }; t { "a" + 5 }; t { [1].first("x") }; t { Array(nil) }; t { Array({a: 1}) }; t { Array(1..2) }
p %i[min max difference union intersection product sum min_by max_by each_slice zip cycle flat_map].map { |m| [].method(m).arity }, %i[sub gsub sub! gsub! upto].map { |m| "".method(m).arity }, %i[step % each].map { |m| (1..2).method(m).arity }, 1.method(:step).arity, {}.method(:dig).arity, %i[transform_keys! merge update dig].map { |m| {}.method(m).arity }, Hash.method(:[]).arity
