# Integer: what takes blocks, and the general cases of the leaves.
class Integer
  def +(other) = KumiSys.coerce_bin(self, :+, other)
  def -(other) = KumiSys.coerce_bin(self, :-, other)
  def *(other) = KumiSys.coerce_bin(self, :*, other)
  def /(other) = KumiSys.coerce_bin(self, :/, other)
  def %(other) = KumiSys.coerce_bin(self, :%, other)
  alias_method :modulo, :%
  def divmod(other) = KumiSys.coerce_bin(self, :divmod, other)
  def remainder(other) = KumiSys.coerce_bin(self, :remainder, other)
  def fdiv(other) = KumiSys.coerce_bin(self, :fdiv, other)
  def &(other) = KumiSys.coerce_bit(self, :&, other)
  def |(other) = KumiSys.coerce_bit(self, :|, other)
  def ^(other) = KumiSys.coerce_bit(self, :^, other)
  def <(other) = KumiSys.coerce_rel(self, :<, other)
  def <=(other) = KumiSys.coerce_rel(self, :<=, other)
  def >(other) = KumiSys.coerce_rel(self, :>, other)
  def >=(other) = KumiSys.coerce_rel(self, :>=, other)
  def <=>(other) = KumiSys.coerce_cmp(self, other)

  def ==(other) = (other == self) ? true : false
  alias_method :===, :==

  def div(other)
    raise ZeroDivisionError, "divided by 0" if __is_a(other, Numeric) && other == 0
    KumiSys.coerce_bin(self, :div, other)
  end

  # Natives give up when the result is complex or the exponent is no built-in real.
  def **(other)
    return KumiSys.real_pow(self, other) if __is_a(other, Float) || __is_a(other, Rational)
    KumiSys.coerce_bin(self, :**, other)
  end

  def pow(other, modulus = __undef)
    __undef?(modulus) ? self ** other : pow(other, modulus)
  end

  def [](index, count = __undef)
    return self[index, count] unless __undef?(count)
    return self[index] unless __is_a(index, Range)
    first = index.begin
    last = index.end
    if __same(first, nil)
      raise ArgumentError, "The beginless range for Integer#[] results in infinity" if __same(last, nil)
      last = KumiSys.to_int(last)
      last -= 1 if index.exclude_end?
      return 0 if last < 0 || (self & ((1 << (last + 1)) - 1)) == 0
      raise ArgumentError, "The beginless range for Integer#[] results in infinity"
    end
    first = KumiSys.to_int(first)
    return self >> first if __same(last, nil)
    last = KumiSys.to_int(last)
    length = last - first
    length += 1 unless index.exclude_end?
    shifted = self >> first
    return shifted if last < first
    shifted & ((1 << length) - 1)
  end

  def round(digits = 0, half: nil)
    mode = KumiSys.rounding_mode(half)
    __int_round(self, KumiSys.to_long(digits), mode)
  end

  def ceildiv(other) = -div(0 - other)

  def chr(encoding = __undef)
    if __undef?(encoding)
      return chr if self >= 0 && self < 256
      encoding = Encoding.default_internal
      __int_out_of_char_range(self) if __same(encoding, nil)
    end
    __int_out_of_char_range(self) if self < 0
    encoding = encoding.name if __is_a(encoding, Encoding)
    chr(KumiSys.to_str(encoding))
  end

  def coerce(other)
    return [other, self] if __is_a(other, Integer)
    [Float(other), Float(self)]
  end

  def self.try_convert(object) = KumiSys.try_int(object)

  def rationalize(epsilon = nil) = Rational(self, 1)
  def to_c = __complex(self, 0)

  def times
    return KumiSys.enum(self, :times, :count_times) unless block_given?
    i = 0
    while i < self
      yield i
      i += 1
    end
    self
  end

  def upto(limit)
    return KumiSys.enum(self, :upto, :count_up, [limit]) unless block_given?
    i = self
    if __is_a(limit, Integer)
      while i <= limit
        yield i
        i += 1
      end
    else
      until i > limit
        yield i
        i += 1
      end
    end
    self
  end

  def downto(limit)
    return KumiSys.enum(self, :downto, :count_down, [limit]) unless block_given?
    i = self
    if __is_a(limit, Integer)
      while i >= limit
        yield i
        i -= 1
      end
    else
      until i < limit
        yield i
        i -= 1
      end
    end
    self
  end

  alias_method :inspect, :to_s
  alias_method :magnitude, :abs
  alias_method :next, :succ
end

module KumiSys
  # How many steps of 1 or -1 lead from an Integer to a limit.
  def self.count_to(from, limit, step)
    cmp_fail(from, limit) unless __is_a(limit, Numeric)
    n = step > 0 ? (limit - from).floor + 1 : (from - limit).floor + 1
    n < 0 ? 0 : n
  end

  # base ** exponent for a Float or Rational exponent: natives know those that stay real.
  def self.real_pow(base, exponent)
    return float_pow(base, exponent) if base < 0 && exponent.to_f % 1.0 != 0.0
    base ** exponent
  end

  # Powers with a real exponent that leave the real numbers.
  def self.float_pow(base, exponent)
    base = base.to_f
    exponent = exponent.to_f
    half_turns(base.abs ** exponent, exponent)
  end

  # A Complex of a magnitude and an angle in half turns; exact at the axes.
  def self.half_turns(magnitude, turns)
    case turns % 2.0
    when 0.0 then __complex(magnitude, 0.0)
    when 0.5 then __complex(0.0, magnitude)
    when 1.0 then __complex(-magnitude, 0.0)
    when 1.5 then __complex(0.0, -magnitude)
    else
      angle = turns * Math::PI
      __complex(magnitude * Math.cos(angle), magnitude * Math.sin(angle))
    end
  end
end
