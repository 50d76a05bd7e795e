# Float arithmetic on locals.
times = (15_000_000 * (ARGV[0] || 1).to_f).ceil
i = 0
f = 0.0
while i < times
  f = f * 0.5 + 1.25
  i += 1
end
puts f
