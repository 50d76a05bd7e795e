# Instance variables read and written.
times = (30_000_000 * (ARGV[0] || 1).to_f).ceil
@a = 0
@b = 1
i = 0
while i < times
  @a = @b
  i += 1
end
puts @a
