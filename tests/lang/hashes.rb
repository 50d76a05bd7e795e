h = { a: 1, "b" => 2, 3 => [4] }
p h, h[:a], h["b"], h[3], h[:zzz], h.size, h.keys, h.values, h.key(2), h.to_a
h[:c] = 5
h.delete(:a)
p h, h.key?(:a), h.fetch(:c), h.fetch(:q, 0), h.fetch(:q) { |k| k.to_s }, h.dig(3, 0), h.any? { |k, v| v == 5 }, h.count
p h.map { |k, v| [k, v] }, h.select { |k, v| v == 2 }, h.reject { |k, v| v == 2 }, h.min_by { |k, v| v.to_s }, h.sort_by { |k, v| v.to_s }, h.find { |k, v| v == 5 }
begin
  h.fetch(:nope)
rescue KeyError => e
  p e.message, e.key, e.receiver.equal?(h)
end
d = Hash.new { |hash, k| hash[k] = k * 2 }
p d[2], d, Hash.new(7)[:x], d.default_proc.class
p({ a: 1 }.merge({ b: 2 }, { a: 3 }) { |k, o, n| o + n }, { a: 1, b: 2 }.invert, { a: 1 }.transform_values { |v| v + 1 }, { a: 1 }.transform_keys(&:to_s), { a: nil }.compact)
p({ b: 1, a: 2 }.sort.to_h, { a: 1 }.each_with_index.to_a, { a: 1, b: 2 }.sum { |k, v| v }, { a: 1, b: 2 }.partition { |k, v| v > 1 }, { a: 1 }.to_a.flatten, { a: { b: { c: 1 } } }.dig(:a, :b, :c))
x = 1
y = 2
p({ x:, y: }, { "a b": 1, "c": 2, if: 3, nil => 4, 1.5 => 5, A: 6, a?: 7 })
g = { 1 => :a, 1.0 => :b, 2**70 => :c, "s" => :d, [1] => :e, nil => :f }
p g[1], g[1.0], g[2**70], g["s"], g[[1]], g[nil], g.length
i = { a: 1, b: 2, c: 3 }
i.each { |k, v| i.delete(k) if v == 2 }
p i, i.first, i.shift, i, i.filter_map { |k, v| k if v == 3 }, i.group_by { |k, v| v.odd? }, i.each_with_object([]) { |(k, v), m| m << k }, i.reduce(0) { |m, (k, v)| m + v }
p i.eql?({ c: 3 }), i == { c: 3 }, i.hash == { c: 3 }.hash, {}.empty?, i.slice(:c), i.except(:c), { a: 1 } <= { a: 1, b: 2 }, Hash[[[1, 2]]], [[1, 2]].to_h { |q, r| [r, q] }
begin
  j = { a: 1 }
  j.each { j[:new] = 1 }
rescue => e
  p e.class
end
i.compare_by_identity
p i.compare_by_identity?, { a: 1 }.frozen?, { a: 1, b: 2 }.find_all { |k, v| v > 1 }, { a: 2 }.sum { _2 }
