# Strings built, interpolated and joined.
times = (350_000 * (ARGV[0] || 1).to_f).ceil
size = 0
times.times { |i| size += "#{i} #{i + 1}".concat("-", i.to_s).split(" ").join("/").size }
puts size
