p (loop do break 5 end), 3.times.map { |i| i }, 1.upto(3).to_a, 3.downto(1).to_a, 0.step(10, 5).to_a, 1.0.step(2.0, 0.5).to_a, 10.step(1, -4).to_a
r = [1, 2, 3].each_with_index do |x, i|
  next if x == 1
  break [x, i] if x == 2
end
p r
out = []
outer = [1, 2, 3].each do |i|
  [1, 2, 3].each do |j|
    next if j == 2
    break if j == 3 && i == 2
    out << [i, j]
  end
end
p out, outer
i = 0
res = while i < 5
  i += 1
  break i * 10 if i == 3
end
p res, (while false do end), (until true do end)
e = [1, 2, 3].each
loop { p e.next }
p (loop { raise StopIteration, "x" }).inspect
n = 0
n += 1 while n < 10
p n
begin n -= 1 end until n < 5
p n
for q in 1..3 do; end
p q
for a, (b, c) in [[1, [2, 3]]] do p a + b + c end
p [1, 2, 3].each_entry.to_a, [5, 6].each_with_index.to_a, %w[a b].each.with_index(1).to_a, { a: 1 }.each_pair.to_a, "ab".each_char.to_a, 5.digits.each_slice(1).to_a
p [3, 1, 2].sort_by { -_1 }, [1, 2, 3, 4].each_slice(2).map { |a, b| a * b }, (1..3).each_cons(2).map { |a, b| b - a }, [1, 2, 3].inject { |s, x| break s if x > 2; s + x }
1.upto(2) { |x| 1.upto(2) { |y| next if y == 1; print x, y, " " } }
puts
p [[1, 2], [3, 4]].each_with_index.map { |(a, b), i| a * b + i }, (1..3).zip(4..6, 7..9), [1, 2].product([3, 4]).map { |a, b| a * b }
x = [1, 2, 3, 4, 5].each_with_object({}) { |v, h| (h[v.even? ? :e : :o] ||= []) << v }
p x.to_a
