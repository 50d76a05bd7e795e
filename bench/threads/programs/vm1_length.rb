# Methods of built-in classes without arguments.
times = (10_000_000 * (ARGV[0] || 1).to_f).ceil
text = "text"
list = [1, 2]
i = 0
n = 0
while i < times
  n += text.length + list.length
  i += 1
end
puts n
