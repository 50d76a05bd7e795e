def solve(n, row = 0, cols = 0, d1 = 0, d2 = 0)
  return 1 if row == n
  free = ~(cols | d1 | d2) & ((1 << n) - 1)
  c = 0
  while free != 0
    bit = free & -free
    free ^= bit
    c += solve(n, row + 1, cols | bit, (d1 | bit) << 1, (d2 | bit) >> 1)
  end
  c
end
puts solve(12)
