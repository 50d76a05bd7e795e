# Hash#dig through hashes, lists, structs and what digs itself; and with very many keys.
class Own < Hash
  def dig(*keys) = [:own, keys]
end
class Deep
  def dig(*keys) = [:deep, *keys]
end
S = Struct.new(:a)
h = { a: { b: { c: [10, { d: 1 }], own: Own.new, deep: Deep.new, s: S.new({ x: 5 }), n: nil, i: 3, default: Hash.new { |_, k| k.to_s * 2 } } } }
p h.dig(:a).size, h.dig(:a, :b, :c, 1, :d), h.dig(:a, :b, :own, 1, 2, 3), h.dig(:a, :b, :deep, 1, { k: 2 }), h.dig(:a, :b, :s, :a, :x)
p h.dig(:a, :b, :n, :x, :y, :z), h.dig(:a, :none, :x, :y), h.dig(:a, :b, :default, :q), h.dig(:a, :b, :deep, 1, 2, 3, 4)
begin
  h.dig(:a, :b, :i, :x)
rescue TypeError => e
  puts e.message
end
begin
  h.dig
rescue ArgumentError => e
  puts e.message
end
# A collection at each safepoint looks at all of it.
n = ENV["KUMI_GC_STRESS"] ? 500 : 100_000
deep = {}
n.times { deep = { a: deep } }
p deep.dig(*([:a] * n)), deep.dig(*([:a] * n), :b, :c)
