# The Mandelbrot set by rows: float arithmetic, nothing shared. Each of THREADS threads draws its own SIZE lines.
# usage: cpu_mandelbrot.rb THREADS SIZE
threads = Integer(ARGV[0] || 1)
size = Integer(ARGV[1] || 100)

def inside(size, row)
  count = 0
  ci = 2.0 * row / size - 1.0
  x = 0
  while x < 300
    cr = x / 150.0 - 1.5
    zr = zi = 0.0
    i = 0
    while i < 100 && zr * zr + zi * zi < 4.0
      zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
      i += 1
    end
    count += 1 if i == 100
    x += 1
  end
  count
end

sums = Array.new(threads) { Thread.new { (0...size).sum { |row| inside(size, row) } } }.map(&:value)
abort "threads disagree: #{sums}" unless sums.uniq.size == 1
puts sums[0]
