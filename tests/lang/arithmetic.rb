p 7 / 2, -7 / 2, 7 % 3, -7 % 3, 7.fdiv(2), 2**10, 2**-1
p 7.divmod(-2), -7.divmod(2), 7.remainder(-3), -7.remainder(3)
p 1_000_000 * 1_000_000 * 1_000_000 * 1_000_000
p 4611686018427387903 + 1, -4611686018427387904 - 1, 9223372036854775807 + 1
p 0b1011, 0o17, 0xff, 1e3, 1.5e-7, 100.0, 1e20, 1e16, 123456789.123456789
p 10.gcd(4), 10.lcm(4), 10.pow(3, 7), 255.to_s(16), "ff".to_i(16), 3.7.floor, -3.7.round, 3.14159.round(2), 1234.round(-2)
p 5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 70, (1 << 70) >> 68, -1 >> 3
p 0.1 + 0.2, 1.0 / 3, 1 / 3r, 3.to_r / 9, Complex(1, 2) * Complex(0, 1)
p 1 <=> 2, 2.clamp(3, 5), 10.digits, 17.bit_length, 3.zero?, 0.zero?, 5.pred, 5.succ
begin
  1 / 0
rescue ZeroDivisionError => e
  p e.message
end
p 1.0 / 0, -1.0 / 0, (0.0 / 0).nan?
p Integer("42"), Integer("0x1f", 16), Float("1.5"), "12abc".to_i, "1.5xyz".to_f
p 100.digits(16), Integer.sqrt(99), 2**100 % 1000, (2**64).to_s.size
