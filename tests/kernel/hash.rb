h = Hash.new { |hash, k| hash[k] = "v#{k}" }
20.times { |i| h["k#{i}"] }
p h.size, h["k3"], h.keys.first(2), h.select { |k, v| k.end_with?("1") }, h.min_by { |k, v| v }, h.sort_by { |k, v| v }.first
h.delete_if { |k, v| k.size == 3 }
p h.size, h.map { |k, v| [k.to_sym, v] }.to_h.keys.first, h.group_by { |k, v| v.size }.keys, h.partition { |k, v| k > "k5" }.map(&:size), h.invert["vk1"], h.transform_values(&:upcase)["k0"], h.each_with_index.map { |(k, v), i| i }.sum, h.reduce("") { |m, (k, v)| m + k }
g = h.merge({ "new" => 1 }) { |k, a, b| [a, b] }
p g.size, g.to_a.flatten.size, g.any? { |k, v| v == 1 }, g.find { |k, v| v == 1 }, g.sum { |k, v| v.to_s.size }, g.filter_map { |k, v| k if v == 1 }, g.key(1), g.rassoc(1), g.dig("new"), g.fetch_values("new"), g.compact.size, g.reject { |k, v| v == 1 }.size, g.each_slice(2).first.size
z = { [1, 2] => :arr, { a: 1 } => :hash, "s" => :str, 1.5 => :flo, nil => :nil, (1..2) => :range }
p z[[1, 2]], z[{ a: 1 }], z["s"], z[1.5], z[nil], z[1..2], z.rehash.size, z.compare_by_identity.size, z["s"]
d = {}
100.times { |i| d[i.to_s] = i }
100.times { |i| d.delete(i.to_s) if i % 3 != 0 }
p d.size, d.values.sum, d.shift, d.first, d.clear.empty?, d.default = 5, d[:x]
