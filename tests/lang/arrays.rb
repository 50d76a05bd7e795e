a = [5, 3, 8, 1]
p a.sort, a.max, a.min, a.sum, a.sort { |x, y| y <=> x }, a.sort_by { |x| -x }, a.reverse, a.first(2), a.last(2), a.minmax
p a.map { |x| x * 2 }, a.select(&:even?), a.reject(&:even?), a.partition { |x| x > 3 }, a.inject(:+), a.reduce(1) { |m, x| m * x }
p a.each_slice(2).to_a, a.each_cons(2).to_a, a.zip([1, 2, 3, 4]), a.each_with_index.to_a, a.include?(3), a.index(8), a.find { |x| x > 4 }
p [1, [2, [3, [4]]]].flatten, [1, [2, [3, [4]]]].flatten(1), [1, nil, 2, nil].compact, [1, 1, 2, 3, 3].uniq, [3, 1, 2].sort!.first
p [1, 2, 3] + [4], [1, 2, 3] - [2], [1, 2] & [2, 3], [1, 2] | [2, 3], [1, 2] * 2, [1, 2] * ",", [1, 2, 3] <=> [1, 2, 4]
b = [1, 2, 3, 4, 5]
p b[1..3], b[1...-1], b[-2..], b[10], b[5, 1], b.values_at(0, 2, -1), b.take_while { |x| x < 3 }, b.drop(2), b.rotate(2), b.each_entry.to_a
b[1..2] = [:x]
p b, b.insert(1, :y), b.delete(:x), b.delete_at(0), b, b.push(9).pop, b.unshift(0).shift, b.fill(7, 0, 1), b.clear, b.empty?
p [3, 1].minmax, %w[aa b ccc].max_by(&:size), %w[aa b ccc].group_by(&:size).to_a, [1, 2, 3, 4].each_with_object([]) { |x, m| m << x if x.odd? }
p (1..4).to_a.combination(2).to_a, [1, 2, 3].permutation(2).count, [1, 2].product([3, 4]), [[1, 2], [3, 4]].transpose, [[1, :a], [2, :b]].to_h.to_a
p [1, 2, 3, 4].bsearch { |x| x >= 3 }, [1, 2, 3].cycle.first(5), [1, 2, 3].each_slice(2).map(&:sum), [0] * 3, Array.new(3) { |i| i * i }, Array(1..3), Array(nil)
x, (y, *z), w = 1, [2, 3, 4], 5
p x, y, z, w
first, *rest = [1, 2, 3]
p first, rest, [*1..3, *[4, 5]], [1, 2, 3].dig(0), [[1, [2]]].dig(0, 1, 0)
p [1, 2, 3].inspect, [nil, true].to_s, [1, 2, 3].pack("s*").bytes, ["a", "b"].join("-"), [1, [2, [3]]].join(","), [3, 5].sum { |q| q * 2 }, [0.1] * 3 == [0.1, 0.1, 0.1], [1, 2, 2, 3].tally.to_a, [1, 2, 3, 4].filter_map { |q| q * 2 if q.even? }
p [4, 2].frozen?, [1, 2].freeze.frozen?, [1, 2, 3, 4, 5].slice_when { |q, r| r > q + 1 }.to_a, [1, 2, 4, 5].chunk_while { |q, r| r == q + 1 }.to_a
