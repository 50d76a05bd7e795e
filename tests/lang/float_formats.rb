# Floats by every conversion and precision, near ties above all: they are rounded as CRuby rounds them.
r = Random.new(42)
floats = []
150.times do
  floats << r.rand << r.rand * 10.0**r.rand(-8..12) << r.rand(100_000) / 1000.0 << r.rand(10_000) / 100.0 + 0.005 << r.rand(1000) + 0.5
  floats << r.rand(10**r.rand(1..17)) / 10.0**r.rand(0..17) << -r.rand(100_000) / 8.0
end
floats << 0.0 << -0.0 << 5e-324 << Float::MAX << Float::MIN << 1e22 << 1e23
forms = %w[%.0f %.1f %.2f %.3f %.5f %.10f %.20f %f %e %.0e %.1e %.3e %.15e %.17e %g %.1g %.3g %.10g %.15g %.17g %.20g %#g %#.0f %+.2f %010.3f
  %a %.0a %.1a %.3a %.5a %.20a %A %-12.3g| %E %G]
forms.each do |f|
  sum = 7
  floats.each { |x| format(f, x).each_byte { |b| sum = (sum * 31 + b) % 1_000_000_007 } }
  puts "#{f} #{sum} #{floats.last(12).map { |x| format(f, x)[0, 30] }.join(" ")}"
end
p [0.015, 0.025, 0.035, 75.45, 11.35, 2.675, 1.005, 0.125, 7.705].map { |x| "%.2f %.1f %.3g" % [x, x, x] }
