# Rational: the general cases of the leaves.
class Rational
  def +(other) = KumiSys.coerce_bin(self, :+, other)
  def -(other) = KumiSys.coerce_bin(self, :-, other)
  def *(other) = KumiSys.coerce_bin(self, :*, other)
  def /(other) = KumiSys.coerce_bin(self, :/, other)
  alias_method :quo, :/
  def %(other) = KumiSys.coerce_bin(self, :%, other)
  alias_method :magnitude, :abs
  def divmod(other) = KumiSys.coerce_bin(self, :divmod, other)
  def remainder(other) = KumiSys.coerce_bin(self, :remainder, other)
  def fdiv(other) = KumiSys.coerce_bin(self, :fdiv, other)
  def <(other) = KumiSys.rational_order(self, other) < 0
  def <=(other) = KumiSys.rational_order(self, other) <= 0
  def >(other) = KumiSys.rational_order(self, other) > 0
  def >=(other) = KumiSys.rational_order(self, other) >= 0
  def <=>(other) = KumiSys.coerce_cmp(self, other)
  def ==(other) = (other == self) ? true : false

  def div(other)
    raise ZeroDivisionError, "divided by 0" if __is_a(other, Numeric) && other == 0
    KumiSys.coerce_bin(self, :div, other)
  end

  def **(other)
    return KumiSys.real_pow(self, other) if __is_a(other, Float) || __is_a(other, Rational)
    KumiSys.coerce_bin(self, :**, other)
  end

  def pow(other) = self ** other

  def coerce(other)
    return coerce(other) if KumiSys.plain_real?(other)
    if __is_a(other, Complex)
      # A Complex that is exactly real stays exact.
      return [Rational(other.real), self] if __is_a(other.imaginary, Integer) && other.imaginary == 0
      return [other, Complex(self)]
    end
    raise TypeError, "#{__describe_type(other)} can't be coerced into Rational"
  end

  def round(digits = __undef, half: nil)
    mode = KumiSys.rounding_mode(half)
    return __rat_round(self, 0, mode) if __undef?(digits)
    __rat_round(self, digits, mode)
  end

  def rationalize(epsilon = __undef)
    return self if __undef?(epsilon)
    epsilon = epsilon.abs
    low = self - epsilon
    high = self + epsilon
    return self if low == high
    __rat_simplest(low.to_r, high.to_r)
  end

  def to_c = __complex(self, 0)

  private def marshal_dump = [numerator, denominator]
end

module KumiSys
  def self.rational_order(x, y)
    r = x <=> y
    cmp_fail(x, y) if __same(r, nil)
    r
  end
end
