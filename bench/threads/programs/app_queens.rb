# N-queens by blocks that close over the search's state.
times = (65 * (ARGV[0] || 1).to_f).ceil
def place(row, n, taken, &found)
  return found.call(taken) if row == n
  n.times do |c|
    next if taken.each_with_index.any? { |d, r| d == c || (d - c).abs == row - r }
    taken.push(c)
    place(row + 1, n, taken, &found)
    taken.pop
  end
end
count = 0
times.times { place(0, 6, []) { count += 1 } }
puts count
