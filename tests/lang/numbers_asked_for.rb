# What a machine integer cannot be: the message names a Float as C's %.10g shows it, and nil as it is.
def told = (yield rescue "#{$!.class}: #{$!.message}")
[nil, Float::INFINITY, -Float::INFINITY, Float::NAN, 1e30, -1e20, 1.2345678901234e100, 2**31, -2**31 - 1, 1e10, -1, 65.9, 3r, :a].each do |x|
  p [x, told { "%c" % [x] }]
end
[nil, Float::INFINITY, Float::NAN, -1e20, 9223372036854775808.0].each do |x|
  p told { [1].first(x) }, told { "a" * x }, told { [1][x] }, told { [1].at(x) }, told { [1].rotate(x) }, told { "a".center(x) }
end
