# How many objects a call makes: no more than in CRuby, whose numbers stand here (3.1, or 4.0 where that makes fewer).
require_relative "../support/allocations"
require "set"
S = Struct.new(:a, keyword_init: true)
class Up; def r(*a) = nil; def kr(**o) = nil; def re(a) = nil; end
class Down < Up; def r(*a) = super; def kr(**o) = super; def re(a) = super; end
D = Down.new
X, Y = 1, 2
STR = "str".freeze
A = [1, 2, 3].freeze; AA = [[1, 2].freeze, [3, 4].freeze].freeze; AA3 = [[1, [2, [3, 4]]]].freeze
H = {a: 1, b: 2}.freeze; HS = {"a" => 1}.freeze
class EnumC; include Enumerable; def each; yield 1; yield 2; yield 3; self; end; end
E = EnumC.new
ENU = A.each
LK = ->(a:) { a }
def yk = yield(a: 1)
TABLE = {
  "S.new(a: 1)" => 2, "D.r(1)" => 2, "D.kr(a: 1)" => 2, "D.re(1)" => 0,
  "[X, Y].max" => 0, "[X, Y].min" => 0, "[X, Y].hash" => 0, "[X, Y].include?(1)" => 0, "[STR, STR].max" => 0,
  '"#{1}"' => 1, '"#{X}a"' => 1, '"a#{X}b#{Y}"' => 1, '"#{:a}"' => 1, '"#{nil}"' => 1, ':"a#{X}"' => 1,
  'HS["a"]' => 0, "LK.call(a: 1)" => 0, "LK.(a: 1)" => 0, "yk { |a:| a }" => 0, "yk { |a: 2, b: 3| a }" => 0,
  "A.inject(:+)" => 0, "A.inject { |a, b| a + b }" => 2, "E.inject(:+)" => 2, "E.inject { |x, y| x }" => 2,
  "AA3.each { |a, (b, c)| }" => 0, "AA.each { |a, b| }" => 0, "AA.each_with_index { |(a, b), i| }" => 2,
  "instance_exec(1) { |x| x }" => 1, "instance_eval { }" => 1, "Object.class_exec(1) { |x| }" => 1,
  "H.any? { |k, v| false }" => 0, "H.map { |k, v| v }" => 2, "H.merge(H)" => 1, "H.except(:a)" => 1,
  "A.each" => 1, "A.map" => 1, "A.each_with_index" => 1, "H.each" => 1, "3.times" => 1, "1.upto(3)" => 2, "A.cycle(2)" => 2,
  "1.upto(3) { |x| }" => 0, "3.downto(1) { }" => 0, "A.cycle(2) { |x| }" => 0, "ENU.each { }" => 0, "ENU.to_a" => 2, "ENU.count" => 2,
  "E.to_a" => 2, "E.map { |x| x }" => 2, "E.select { |x| x }" => 2, "E.reject { |x| x }" => 2, "E.include?(2)" => 3, "E.first" => 2,
  "E.find { |x| x }" => 2, "E.any? { |x| nil }" => 2, "E.all? { |x| x }" => 2, "E.count { |x| x }" => 2, "E.each_with_index { |x, i| }" => 2,
  "E.each_with_object(1) { |x, m| }" => 2, "E.each_slice(2) { |x| }" => 4, "E.group_by { |x| x }" => 5, "E.partition { |x| x }" => 5, "E.uniq" => 3,
  "E.each_entry { |x| }" => 1, "E.reverse_each { |x| }" => 2, "A.each_entry { |x| }" => 1, "T.each_pair { |k, v| }" => 0, "T.dig(:a)" => 0, "H.dig(:a)" => 0, "A.dig(0)" => 0,
  "H.group_by { |k, v| v }" => 6, "H.group_by { |x| 1 }" => 5, "H.partition { |k, v| v }" => 7, "H.sort_by { |k, v| v }" => 6, "H.uniq { |k, v| v }" => 5,
  "H.each_entry { |k, v| }" => 3, "H.take_while { |k, v| v }" => 4, "H.drop_while { |k, v| v }" => 5, "H.one? { |k, v| v }" => 5, "H.minmax_by { |k, v| v }" => 5,
  "H.find_index { |k, v| nil }" => 4, "H.tally" => 4, "H.drop(1)" => 5, "H.all?" => 4, "H.to_set" => 9, "H.each.to_a" => 5, "H.max { |a, b| 0 }" => 4,
  "EP.group_by { |k, v| 1 }" => 3, "EP.sort_by { |k, v| v }" => 4, "EP.select { |k, v| v }" => 2, "EP.each_entry { |k, v| }" => 1, "EP.include?(1)" => 2, "AA.each_entry { |a, b| }" => 1,
  "A.flat_map { |x| x }" => 2, "E.flat_map { |x| x }" => 2, "H.flat_map { |k, v| v }" => 4, "R.sum { |x| x }" => 1, "E.sum" => 1, "E.sum { |x| x }" => 1,
  "H.sum { |k, v| v }" => 2, "H.min_by { |k, v| v }" => 4, "E.min_by { |x| x }" => 2, "R.max_by { |x| x }" => 2, "A.zip(A) { |x, y| }" => 1,
  "AA.zip(AA) { |x, y| }" => 1, "A.zip(A)" => 5, "A.each_slice(2)" => 2, "E.each_slice(2)" => 2, "E.each_cons(2)" => 2, "H.each_slice(2)" => 2,
  "E.cycle(2)" => 2, "A.each_slice(2).to_a" => 8, "(1..3).each_slice(2).map(&:sum)" => 8, "A.union(A)" => 1, "A.difference(A)" => 1, "A.intersection(A)" => 2,
  "NH.dig(:a, :b, 0)" => 0, "NH.dig(:a, :b)" => 0, "R.step(2) { }" => 0, "1.step(9, 2) { }" => 0, "1.step(by: 2, to: 9) { }" => 2, "Hash[AA]" => 1,
  "Hash[H]" => 1, "H.dup.transform_keys! { |k| k }" => 3, "Array(1)" => 1, "A.each_with_index.min_by { |x, i| i }" => 8,
  "yblk { |x| x }" => 0, "yblks { |a, b| a }" => 0,
}
def yblk(&b) = b.call(1)
def yblks(&b) = b.(1, 2)
NH = {a: {b: [1]}}.freeze; R = 1..3
class EnumP; include Enumerable; P1 = [1, 2]; P2 = [3, 4]; def each; yield P1; yield P2; self; end; end
EP = EnumP.new
T = Struct.new(:a, :n).new(1, [1, 2])
report_allocations(TABLE)
