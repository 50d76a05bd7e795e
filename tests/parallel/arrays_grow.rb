# Appending, prepending and inserting from many threads: each call is one step.
def together(n)
  go = false
  ts = n.times.map { |i| Thread.new { Thread.pass until go; yield i } }
  go = true
  ts.map(&:value)
end

N = 1500
T = 6

a = []
together(T) { |t| N.times { |i| a << t * N + i } }
p [:append, a.size, a.sum, a.uniq.size]
p [:own_order, T.times.all? { |t| m = a.select { |x| x / N == t }; m == m.sort }]

a = []
together(T) { |t| N.times { |i| a.push(t, t, t) } }
p [:push_three, a.size, a.each_slice(3).all? { |s| s.uniq.size == 1 }]

a = []
together(T) { |t| 400.times { a.concat([t] * 7) } }
p [:concat, a.size, a.each_slice(7).all? { |s| s.uniq.size == 1 }]

a = []
together(T) { |t| 300.times { a.unshift(t, t, t) } }
p [:unshift, a.size, a.each_slice(3).all? { |s| s.uniq.size == 1 }, a.tally.values.uniq]

a = []
together(T) { |t| 200.times { |i| a.insert(0, t * 200 + i) } }
p [:insert, a.size, a.uniq.size]

a = []
together(T) { |t| N.times { |i| a[t * N + i] = i } }
p [:store, a.size, a.count(nil), a.sum]

a = Array.new(T * 100, 0)
together(T) { |t| 100.times { |i| a[t * 100 + i, 1] = [t] } }
p [:splice, a.size, a.tally.values.uniq]

a = [0]
together(T) { |t| 300.times { |i| a.append(i); a.prepend(i) } }
p [:both_ends, a.size, a.sum]

a = []
r = together(T) { |t| N.times.count { |i| (a << i).equal?(a) } }
p [:answers_self, r.sum]
