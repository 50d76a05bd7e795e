# Numbers of thousands of digits: what is worked out aside gives what is worked out in place.

def sum(x) = (t = x.to_s; [t.size, t.sum(30), t[0, 5], t[-5, 5]])

a = 7**9000 + 5
b = 3**11_000 - 1
r = Rational(a, b)
q = Rational(-b, 11**4000)

[:+, :-, :*, :/, :quo, :divmod, :modulo, :remainder, :div, :fdiv, :<=>, :<, :<=, :>, :>=, :==].each { |m| p [m, sum(r.public_send(m, q)), sum(q.public_send(m, r))] }
[:+, :-, :*, :/, :divmod, :div, :modulo, :fdiv, :<, :>=, :<=>].each { |m| p [m, sum(r.public_send(m, a)), sum(a.public_send(m, r))] }
p sum(r**7), sum(q**-7), sum(r.abs), sum(q.abs)
[0, 3, -3, 2000, -700].each { |d| [:floor, :ceil, :truncate, :round].each { |m| p [m, d, sum(r.public_send(m, d)), sum(q.public_send(m, d))] } }
%i[up down even].each { |h| p sum(q.round(20, half: h)), sum(Rational(a * 10 + 5, 10).round(half: h)) }
p [r.floor, r.ceil, r.round, r.truncate].map { |x| sum(x) }
p sum(r.to_s), sum(q.inspect), r.hash == Rational(a, b).hash
p r.to_f, q.to_f, r.to_i == a / b, sum(r.rationalize(Rational(1, 10**300)))

t = "9" * 9000 + "." + "3" * 9000
p sum(t.to_r), sum(Rational(t)), sum(("-" + t + "/77").to_r), sum(Rational("1" * 8000 + "/" + "3" * 8000))
p sum((t + "i").to_c.to_s), sum(Complex("1" * 9000 + "+" + "2" * 8000 + "i").to_s)
p t.to_f, Float("1" * 300 + "." + "5" * 20_000)
p((begin; Rational("1" * 9000 + "/0"); rescue => e; e.class; end))

c = Complex(a, -b)
d = Complex(b, 5)
[:+, :-, :*, :==].each { |m| p [m, sum(c.public_send(m, d)), sum(d.public_send(m, a))] }
p sum(c**5), sum(c.quo(d)), sum(c.abs2)

huge = (1 << 90_000) / 3
["%d", "%x", "%X", "%#b", "%o", "%+d", "% x", "%040000d", "%-35000d|", "%.40000d", "%+x", "%#X", "%090000x"].each do |f|
  p [f, sum(format(f, huge)), sum(format(f, -huge))]
end
["%f", "%.3f", "%.30000f", "%+.1f", "%040000.2f", "%-40000.2f|", "%.0f"].each do |f|
  p [f, sum(format(f, huge)), sum(format(f, -huge)), sum(format(f, r)), sum(format(f, q))]
end
p format("%.25000f", Rational(1, 3)) == "0." + "3" * 25_000, format("%.25000f", Rational(-2, 3)).end_with?("67")
p sum(format("%s %d %x %p", 1, huge, -huge, nil)), sum(format("%<a>d", a: huge)), sum(format("%2$d %1$x", huge, -huge))

p sum(huge.digits.join), sum(huge.digits(7).join), sum(huge.digits(10**30).join), sum(huge.digits(2).join)
[-1, -100, -20_000, -27_000].each { |n| p [:floor, :ceil, :round, :truncate].map { |m| sum(huge.public_send(m, n)) + sum((-huge).public_send(m, n)) } }
p %i[up down even].map { |h| sum((huge / 10 * 10 + 5).round(-1, half: h)) }
p sum(huge.ceildiv(a)), sum((-huge).ceildiv(a)), sum(huge.ceildiv(-a)), huge.ceildiv(huge), 7.ceildiv(huge), sum((a * b).ceildiv(b)), (-7).ceildiv(huge)
p sum(huge.lcm(a)), sum(huge.gcd(a * 5)), huge.gcdlcm(a).map { |x| sum(x) }
p((begin; huge.ceildiv(0); rescue => e; e.class; end))

[-> { Time.at(0).round(2**31 - 1) }, -> { Time.at(1/3r).ceil(100_000_000) }, -> { Rational(1, 3).round(2**31 - 1) }, -> { Rational(1, 3).floor(-2**31) },
 -> { Rational(1, 3).truncate(70_000_000) }].each do |f|
  f.call
  puts "answered"
rescue ArgumentError => e
  puts e.message
end
p Rational(1, 3).round(100_000).numerator.to_s.size

[-> { 1.ceil(-2**31 + 1) }, -> { -1.floor(-2**31 + 1) }, -> { (10**40).ceil(-2**31 + 1) }, -> { 1.5.ceil(-2**31 + 1) },
 -> { -1.5.floor(-2**31 + 1) }, -> { -1.5.ceil(-2**31 + 1) }, -> { 1.floor(-2**31 + 1) },
 -> { -1.ceil(-2**31 + 1) }, -> { (2**70).round(-2**31 + 1) }, -> { 1.ceil(-3) }].each do |f|
  p f.call
rescue ArgumentError => e
  puts e.message
end
# Exact powers of Complex are refused as those of Integers are.
big = 9007199254740992
p [Complex(1, 2), Complex(1, 1), Complex(1r / 3, 2), Complex(0, 2), Complex(3r / 5, 4r / 5)].map { |c| (c ** big rescue $!.message) }
p [Complex(0, 1), Complex(-1, 0), Complex(0, 0), Complex(0, -1)].map { |c| c ** big }, (Complex(1.5, 2) ** big).real.nan?
p((Complex(1, 2) ** -big rescue $!.message), (Complex(1, 2) ** (1 << 80) rescue $!.message), Complex(0, 1) ** (1 << 80), (Complex(1, 1) ** (1 << 21)).real.bit_length)
