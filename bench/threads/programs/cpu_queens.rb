# Counts solutions of the N-queens problem: integers, arrays and recursion, nothing shared. Each of THREADS threads
# solves the whole problem TIMES times.
# usage: cpu_queens.rb THREADS TIMES [N]
threads = Integer(ARGV[0] || 1)
times = Integer(ARGV[1] || 1)
N = Integer(ARGV[2] || 8)

def solutions(row, columns, rising, falling)
  return 1 if row == N
  count = 0
  N.times do |c|
    next if columns[c] || rising[row + c] || falling[row - c + N]
    columns[c] = rising[row + c] = falling[row - c + N] = true
    count += solutions(row + 1, columns, rising, falling)
    columns[c] = rising[row + c] = falling[row - c + N] = false
  end
  count
end

found = Array.new(threads) do
  Thread.new do
    sum = 0
    times.times { sum += solutions(0, Array.new(N, false), Array.new(2 * N, false), Array.new(2 * N + 1, false)) }
    sum
  end
end.map(&:value)
abort "threads disagree: #{found}" unless found.uniq.size == 1
puts found[0]
