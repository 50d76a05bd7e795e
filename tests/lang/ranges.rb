p (1..5).to_a, (1...5).to_a, (1..10).step(3).to_a, 1.step(10, 4).to_a, ("a".."e").to_a, (1..5).sum, (1..).first(3), (1..5).include?(3), (1..5) === 6, (1.0..2.0).cover?(1.5)
p (1..5).each_slice(2).to_a, (1..3).reverse_each.to_a, (1..3).inject(:*), ("a".."z").count, (1...10).size, (1..nil).inspect, (..5).include?(3), (1..10) % 3
p (1..5).min, (1..5).max, (1...5).max, (1..0).to_a, (1..0).min, (0.5..2).include?(1), (1..3).eql?(1..3), (1..3).hash == (1..3).hash, (1..5).minmax
p (1..3).each_with_index.map { |x, i| x * i }, (1..6).each_cons(3).to_a, (1..3).flat_map { |x| [x] * x }, (1..3).zip(4..6), (1..10).find { |i| i % 7 == 0 }, (1..4).each_entry.to_a
case 7
when 1..5 then p :low
when 6.. then p :high
end
p (1..10).select(&:even?), 10.downto(7).to_a, 1.upto(3).map { |x| x }, (1..3).cycle.first(7)
p Range.new(1, 3, true), (1..3).step(0.5).to_a, ("a".."e").step(2).to_a, (1..3).frozen?, (1..20).bsearch { |x| x * x >= 50 }
