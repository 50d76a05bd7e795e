# Float: the general cases of the leaves.
class Float
  def +(other) = KumiSys.coerce_bin(self, :+, other)
  def -(other) = KumiSys.coerce_bin(self, :-, other)
  def *(other) = KumiSys.coerce_bin(self, :*, other)
  def /(other) = KumiSys.coerce_bin(self, :/, other)
  def quo(other) = KumiSys.coerce_bin(self, :quo, other)
  alias_method :fdiv, :quo
  def %(other) = KumiSys.coerce_bin(self, :%, other)
  alias_method :modulo, :%
  def divmod(other) = KumiSys.coerce_bin(self, :divmod, other)
  def remainder(other) = KumiSys.coerce_bin(self, :remainder, other)
  def <(other) = KumiSys.coerce_rel(self, :<, other)
  def <=(other) = KumiSys.coerce_rel(self, :<=, other)
  def >(other) = KumiSys.coerce_rel(self, :>, other)
  def >=(other) = KumiSys.coerce_rel(self, :>=, other)
  def ==(other) = (other == self) ? true : false
  alias_method :===, :==

  def div(other)
    raise ZeroDivisionError, "divided by 0" if __is_a(other, Numeric) && other == 0
    KumiSys.coerce_bin(self, :div, other)
  end

  def **(other)
    return KumiSys.real_pow(self, other) if __is_a(other, Float) || __is_a(other, Integer) || __is_a(other, Rational)
    KumiSys.coerce_bin(self, :**, other)
  end

  def pow(other) = self ** other

  def <=>(other)
    return self <=> other if KumiSys.plain_real?(other)
    # An infinite Float is beyond whatever says it is finite.
    if infinite? && __responds(other, :infinite?)
      sign = other.infinite?
      if sign
        return infinite? if sign == true
        sign = sign <=> 0
        own = infinite?
        return sign == own ? 0 : own
      end
      return infinite?
    end
    KumiSys.coerce_cmp(self, other)
  end

  def coerce(other) = [Float(other), self]

  def round(digits = 0, half: nil)
    mode = KumiSys.rounding_mode(half)
    __float_round(self, KumiSys.to_long(digits), mode)
  end

  def rationalize(epsilon = __undef)
    return rationalize if __undef?(epsilon)
    epsilon = epsilon.abs
    exact = to_r
    return exact if epsilon == 0
    low = (exact - epsilon).to_r
    high = (exact + epsilon).to_r
    __same(low, high) ? exact : __rat_simplest(low, high)
  end

  def to_c = __complex(self, 0)
  def arg = nan? ? self : (__float_sign_bit(self) ? Math::PI : 0)
  alias_method :angle, :arg
  alias_method :phase, :arg
  alias_method :inspect, :to_s
  alias_method :magnitude, :abs
  alias_method :to_int, :to_i
end
