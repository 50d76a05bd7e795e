# A method with ensure, called in a loop.
times = (15_000_000 * (ARGV[0] || 1).to_f).ceil
def guarded(x)
  x + 1
ensure
  x
end
i = 0
i = guarded(i) while i < times
puts i
