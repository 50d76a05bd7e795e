x = 1
60.times { |i| x *= (i + 1) }
p x, x.to_s.size, x / 10**20, x % 97, -x >> 5, x.digits.sum, x.to_s(36), x.fdiv(10**60), x.gcd(10**10), x.bit_length, Integer.sqrt(x).to_s.size, x ^ (x >> 1) > 0, (x + 1) * (x - 1) == x * x - 1, x.divmod(-12345678901234567890)[1]
p (1..20).map { |i| Rational(1, i) }.sum, Complex(1, 2)**3, 2**0.5, 10.pow(20, 7), 3.14.rationalize(Rational(1, 100)), 1e-20.to_s, 1e22.to_i, 0.1.to_r, 5.0.divmod(3), -7.divmod(2), 7.pow(-1), 1.5.floor, 2.5.round, -3.7.truncate, 1234.5678.round(2), 1234.round(-2), 12.lcm(18), 255.to_s(2), "0b11".to_i(0), "z".to_i(36)
p [1, 2.5, 3r, 2**70].sum, [0.1] * 10 == [0.1] * 10, ([0.1] * 10).sum, 3.zero?, 1.0.next_float > 1, 10.0.to_i, Float::MAX.to_i.to_s.size, (2**64).hash == (2**64).hash, 2**64 == (2**64).to_f, Comparable.instance_method(:clamp).owner, 5.clamp(..3), -5.abs, 5.pred.succ, 3.times.sum, 1.step(10, 3).to_a, 10.downto(7).select(&:even?), 1.0.step(2.0, 0.5).to_a rescue p $!
