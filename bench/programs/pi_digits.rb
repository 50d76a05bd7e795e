q, r, t, k, m, x = 1, 0, 1, 1, 3, 3
out = +""
while out.size < 3000
  if 4 * q + r - t < m * t
    out << m.to_s
    nr = 10 * (r - m * t)
    m = (10 * (3 * q + r)) / t - 10 * m
    q *= 10
    r = nr
  else
    nr = (2 * q + r) * x
    nn = (q * (7 * k) + 2 + r * x) / (t * x)
    q *= k
    t *= x
    x += 2
    k += 1
    m = nn
    r = nr
  end
end
puts out[-20..]
