cells = {}
[[1, 0], [2, 1], [0, 2], [1, 2], [2, 2], [10, 10], [10, 11], [10, 12], [11, 11], [12, 12]].each { |c| cells[c] = true }
3000.times do
  counts = Hash.new(0)
  cells.each_key { |x, y| (-1..1).each { |dx| (-1..1).each { |dy| counts[[x + dx, y + dy]] += 1 unless dx == 0 && dy == 0 } } }
  cells = counts.select { |c, n| n == 3 || (n == 2 && cells[c]) }.to_h { |c, _| [c, true] }
end
puts cells.size
