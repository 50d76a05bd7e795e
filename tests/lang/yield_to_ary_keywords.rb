# Keywords beside one value: it stays whole, and the keywords are there.
class Pair; def to_ary = [21, 22]; def inspect = "pair"; end
def beside(v) = yield(v, a: 1)
def pairs(v) = yield(v, 7 => 1)
def passed(*v, **k) = yield(*v, **k)
[[1, 2], Pair.new].each do |v|
  beside(v) { |x, y| p [x, y] }
  beside(v) { |x, y, *z| p [x, y, z] }
  beside(v) { |x, y = 4| p [x, y] }
  beside(v) { |x, y, a:| p [x, y, a] }
  beside(v) { |x, *y, a: 5| p [x, y, a] }
  beside(v) { |x, y, **k| p [x, y, k] }
  beside(v) { |x, | p x }
  pairs(v) { |x, y| p [x, y] }
  pairs(v) { |x, y, **k| p [x, y, k] }
  passed(v) { |x, y| p [x, y] }
  passed(v, a: 1) { |x, y| p [x, y] }
  passed(v, a: 1) { |x, y = 5, *z, a:| p [x, y, z, a] }
end
