a = Array.new(5) { |i| "s#{i}" }
b = a.map(&:upcase).each_slice(2).to_a
p b, a.sort { |x, y| y <=> x }, a.combination(2).first(2), a.permutation(2).count, a.product([1]).size, a.zip(b), a.each_cons(2).to_a.size
c = a + b.flatten
c << "t"
c.concat(%w[u v]).unshift("z").insert(2, "q")
p c.uniq, c.group_by(&:size), c.partition { |x| x > "s" }, c.inject { |x, y| x + y }, c.pack("A2" * c.size), c.join("-"), c.rotate(2).take(3)
p c.each_with_object([]) { |x, m| m.unshift(x) }.first, c.to_h { |x| [x, x.size] }.size, c.flat_map { |x| [x, [x]] }.size, c.sum("") { |x| x[0] }, c.max_by(&:ord), c.minmax, c.tally.values.sum, c.bsearch { |x| x >= "zzz" }
c.delete_if { |x| x =~ /s/ }
c.map! { |x| x * 2 }
c.sort_by! { |x| x }
p c, c.slice!(1, 2), c, c.fill("f", 1), c.values_at(0, -1, 9), c.dig(0), c <=> a, c.transpose.class rescue p $!.class
p [3, 1, 2].sort!.reverse!.shuffle.size, [[2, 1], [1, 2]].sort, [1, [2, [3]]].flatten!, [nil, 1].compact!, [1, 2, 3, 4].each_entry.to_a, (1..5).each_slice(2).map(&:sum), [1, 2] <=> [1, "a"], [0.1, 0.2, 0.3].sum, [1, 2, 3].cycle.take(5), Array.new(2, "x").map(&:object_id).uniq.size
