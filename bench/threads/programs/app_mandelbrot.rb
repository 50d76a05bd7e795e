# The Mandelbrot set: float arithmetic in a method.
rows = (450 * (ARGV[0] || 1).to_f).ceil
def steps(cr, ci)
  zr = zi = 0.0
  n = 0
  while n < 60 && zr * zr + zi * zi < 4.0
    zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
    n += 1
  end
  n
end
sum = 0
rows.times { |i| 200.times { |k| sum += steps(k / 100.0 - 1.5, (i % 100) / 50.0 - 1.0) } }
puts sum
