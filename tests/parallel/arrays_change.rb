# Readers of an Array that others change as a whole see one of its states.
def together(n)
  go = false
  ts = n.times.map { |i| Thread.new { Thread.pass until go; yield i } }
  go = true
  ts.map(&:value)
end

def while_changed(a, change, rounds: 400)
  done = false
  bad = nil
  readers = 2.times.map { Thread.new { until done; s = a.dup; bad ||= s unless yield s; Thread.pass; end } }
  ws = 2.times.map { |t| Thread.new { rounds.times { |i| change.(a, t, i) } } }
  ws.each(&:join)
  done = true
  readers.each(&:join)
  bad ? "saw #{bad.inspect[0, 60]}" : :whole
end

a = (1..50).to_a
p [:sort, while_changed(a, ->(a, t, i) { t == 0 ? a.sort! : a.reverse! }) { |s| s.sum == 1275 && s.uniq.size == 50 }]
p [:rotate, while_changed(a, ->(a, t, i) { a.rotate!(i) }) { |s| s.sum == 1275 && s.size == 50 }]
p [:shuffle, while_changed(a, ->(a, t, i) { a.shuffle! }) { |s| s.sum == 1275 && s.size == 50 }]
p [:fill, while_changed(a, ->(a, t, i) { a.fill(t) }) { |s| s.uniq.size == 1 || s.sum == 1275 }]
p [:replace, while_changed(a, ->(a, t, i) { a.replace([i] * (i % 90 + 1)) }) { |s| s.uniq.size == 1 && (s.size == s[0] % 90 + 1 || s.size == 50) }]
p [:clear, while_changed(a, ->(a, t, i) { t == 0 ? a.clear : a.replace([7, 7, 7]) }) { |s| [0, 3].include?(s.size) || s.uniq.size == 1 }]
a.replace([1, nil, 2, nil, 3])
p [:compact, while_changed(a, ->(a, t, i) { t == 0 ? a.compact! : a.replace([1, nil, 2, nil, 3]) }) { |s| s == [1, 2, 3] || s == [1, nil, 2, nil, 3] }]
a.replace([3, 3, 1, 1])
p [:uniq, while_changed(a, ->(a, t, i) { t == 0 ? a.uniq! : a.replace([3, 3, 1, 1]) }) { |s| s == [3, 1] || s == [3, 3, 1, 1] }]

# Walking while others change: no order is promised, only that it ends and gives what was stored.
a = (1..200).to_a
done = false
changers = 2.times.map do |t|
  Thread.new { until done; a << 5; a.pop; a.sort!; a.shift; a.unshift(1); Thread.pass; end }
end
odd = 0
3.times.map do
  Thread.new do
    60.times do
      a.each { |x| odd += 1 unless x.is_a?(Integer) }
      a.map { |x| x }.size
      a.each_with_index { |x, i| odd += 1 unless x.is_a?(Integer) }
      a.select(&:even?)
      a.reverse_each { |x| x }
      a.inject { |m, x| x }
      a.index(199)
      a.include?(77)
      a.first(20); a.last(20); a[3..9]; a.max; a.inspect; a.hash; a == a.dup; a <=> [1]; a.join(","); a.pack("C*"); a.flatten
    end
  end
end.each(&:join)
done = true
changers.each(&:join)
p [:walk, odd, a.size]

# A sort with a block while the Array changes ends somehow.
a = (1..100).to_a.reverse
r = together(4) { |t| 20.times { t.even? ? a.sort! { |x, y| Thread.pass if x == 50; x <=> y } : a.map! { |x| x } }; a.size }
p [:sort_block, r.all?(Integer), a.all?(Integer)]

# What a sort or uniq need not compare by Ruby loses nothing that is put in beside it: nils too, and where a nil comes and goes.
kept = lambda do |first, put, change|
  a = first.dup
  counts = together(4) { |t| r = Random.new(t); n = 0; 1000.times { |i| r.rand(2) == 0 ? (n += put.(a, i)) : (change.(a) rescue ArgumentError) }; n }
  [:kept, counts.sum + first.size - a.count { |v| v != :take }]
end
p [:sort_nils, kept.([nil, nil], ->(a, _) { a.push(nil); 1 }, ->(a) { a.sort! })]
a = []
r = together(4) { |t| 1000.times.count { |i| i.even? ? (a.push(:"t#{t}#{i}"); a.insert(a.size + 1, :x); true) : ((a.sort! rescue a.uniq!); false) } }
p [:uniq_and_sort, 4.times.sum { |t| 1000.times.count { |i| i.even? && !a.include?(:"t#{t}#{i}") } }]
p [:true_and_self, [true, true].sort!, [nil, nil, nil].sort, [nil].min, [nil, nil].max, (o = Object.new; [o, o].sort! == [o, o])]
