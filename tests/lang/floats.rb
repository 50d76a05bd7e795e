p 0.1, 1.0, 1e100, 1e-10, 1.23456789012345e+15, 1e15, 1e16, 123456789.0, 0.1 + 0.2, -0.0, 2.5.round, 3.5.round, -2.5.round, 2.5.round(half: :even), 2.675.round(2), 1.15.round(1)
p 3.7.to_i, 3.7.truncate, -3.7.truncate, 3.2.ceil, -3.2.floor, 3.14159.floor(2), 3.14159.ceil(3), 1e20.to_i, 12345.678.round(-2), 0.5.round, 1.5.round
p Float::INFINITY, -Float::INFINITY, Float::NAN.nan?, Float::MAX, Float::MIN, Float::EPSILON, Float::DIG, 1.0.infinite?, (1 / 0.0).infinite?, 0.0 == -0.0, 0.0.eql?(-0.0), 1.0.eql?(1), 1 == 1.0, 1.0.hash == 1.hash
p 1.5.to_r, 0.5.rationalize, 3.0.to_i, 1.1 - 1.0, 1.0.next_float > 1.0, 1e308 * 10, 5.0.floor, 1.23.abs, -1.23.abs, 3.0.zero?, 1.0 <=> 2, 1.0 <=> "a", 3.99.to_i, 1.0.to_s, 1.0.inspect
p Math.sqrt(16), Math::PI, Math.sin(0), Math.log(Math::E), Math.log2(8), Math.log10(1000), Math.hypot(3, 4), Math.cbrt(27), Math.atan2(1, 1), (Math.sqrt(-1) rescue $!.message)
p "%.3f" % 2.0, "%g" % 1e10, "%g" % 0.0001, "%10.2e|" % 12345.6789, "%a" % 1.0, "%-8.2f|" % 3.14159, "%+.1f" % 2.25, 1234567.891.to_s, 1e7.to_s, 12345678912345.678.to_s

# What is the same object need not be equal to itself.
nan = Float::NAN
p nan != nan, nan.!=(nan), nan.send(:!=, nan), [nan] != [nan], 1.5 != 1.5, 1e300 != 1e300
puts nan != nan ? "differs" : "equal"
class NeverEqual
  def ==(_other) = false
end
never = NeverEqual.new
p never != never, never == never, Complex(nan, 1) != Complex(nan, 1), nil != nil, :a != :a, "a" != "b"
