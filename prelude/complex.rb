# Complex: two real parts of any class, in rectangular form.
class Complex
  class << self

    def rectangular(real, imaginary = 0)
      __complex(KumiSys.real_part(real), KumiSys.real_part(imaginary))
    end
    alias_method :rect, :rectangular

    def polar(magnitude, angle = 0)
      KumiSys.polar(KumiSys.real_part(magnitude), KumiSys.real_part(angle))
    end
  end

  undef_method :%, :<, :<=, :>, :>=, :between?, :clamp, :div, :divmod, :floor, :ceil, :modulo,
               :remainder, :round, :step, :truncate, :i, :positive?, :negative?

  alias_method :imag, :imaginary
  def real? = false
  # On an axis, the other part's absolute value, of its own kind.
  def abs
    exact = !__is_a(real, Float) && !__is_a(imaginary, Float)
    return real.abs if exact && imaginary == 0
    return imaginary.abs if exact && real == 0
    Math.hypot(real.to_f, imaginary.to_f)
  end
  alias_method :magnitude, :abs
  def abs2 = real * real + imaginary * imaginary
  def arg = Math.atan2(imaginary.to_f, real.to_f)
  alias_method :angle, :arg
  alias_method :phase, :arg
  def polar = [abs, arg]
  def rectangular = [real, imaginary]
  alias_method :rect, :rectangular
  def conjugate = __complex(real, -imaginary)
  alias_method :conj, :conjugate
  def finite? = real.finite? && imaginary.finite?

  def infinite?
    real.infinite? || imaginary.infinite? ? 1 : nil
  end

  def -@ = __complex(-real, -imaginary)

  def +(other)
    return __complex(real + other.real, imaginary + other.imaginary) if __is_a(other, Complex)
    return __complex(real + other, imaginary) if KumiSys.real?(other)
    KumiSys.coerce_bin(self, :+, other)
  end

  def -(other)
    return __complex(real - other.real, imaginary - other.imaginary) if __is_a(other, Complex)
    return __complex(real - other, imaginary) if KumiSys.real?(other)
    KumiSys.coerce_bin(self, :-, other)
  end

  def *(other)
    return KumiSys.complex_mul(self, other) if __is_a(other, Complex)
    return __complex(real * other, imaginary * other) if KumiSys.real?(other)
    KumiSys.coerce_bin(self, :*, other)
  end

  def /(other) = KumiSys.complex_div(self, other, :quo)
  alias_method :quo, :/
  def fdiv(other) = KumiSys.complex_div(self, other, :fdiv)

  def **(other)
    return __complex(1, 0) if __real_kind(other) != 0 && other == 0 && !__is_a(other, Float)
    if __is_a(other, Rational) && other.denominator == 1
      other = other.numerator
    end
    if __is_a(other, Complex) && __is_a(other.imaginary, Integer) && other.imaginary == 0
      other = other.real
    end
    return __complex(1, 0) if __is_a(other, Integer) && other == 0
    if __is_a(other, Complex)
      if self == 0
        raise ZeroDivisionError, "divided by 0" if other.real < 0
        return __complex(0, 0)
      end
      r, theta = polar
      nr = Math.exp(other.real * Math.log(r) - other.imaginary * theta)
      ntheta = theta * other.real + other.imaginary * Math.log(r)
      return KumiSys.polar(nr, ntheta)
    end
    if __is_a(other, Integer)
      return KumiSys.complex_pow(self, other) if other > 0
      return __complex(1, 0).quo(KumiSys.complex_pow(self, -other)) if other.bit_length < 62
    end
    if KumiSys.real?(other)
      r, theta = polar
      return KumiSys.polar(r ** other, theta * other)
    end
    KumiSys.coerce_bin(self, :**, other)
  end
  alias_method :pow, :**

  def ==(other)
    return real == other.real && imaginary == other.imaginary if __is_a(other, Complex)
    return real == other && imaginary == 0 if KumiSys.real?(other)
    (other == self) ? true : false
  end

  def eql?(other)
    __is_a(other, Complex) && real.class == other.real.class &&
      imaginary.class == other.imaginary.class && self == other
  end

  def hash = [real, imaginary, Complex].hash

  def <=>(other)
    return nil unless __is_a(imaginary, Integer) && imaginary == 0 || imaginary == 0
    if __is_a(other, Complex)
      return other.imaginary == 0 ? real <=> other.real : nil
    end
    return nil unless __is_a(other, Numeric)
    return real <=> other if other.real?
    KumiSys.coerce_cmp(self, other)
  end

  def coerce(other)
    return [other, self] if __is_a(other, Complex)
    return [__complex(other, 0), self] if KumiSys.real?(other)
    raise TypeError, "#{__describe_class(other)} can't be coerced into Complex"
  end

  def numerator
    common = denominator
    __complex(real.numerator * (common / real.denominator), imaginary.numerator * (common / imaginary.denominator))
  end

  def denominator = real.denominator.lcm(imaginary.denominator)

  def to_i = KumiSys.exactly_real(self, "Integer").to_i
  def to_f = KumiSys.exactly_real(self, "Float").to_f

  def to_r
    # An inexact zero is no obstacle here.
    return real.to_r if __is_a(imaginary, Float) && imaginary == 0.0
    KumiSys.exactly_real(self, "Rational").to_r
  end

  def rationalize(epsilon = __undef)
    KumiSys.exactly_real(self, "Rational")
    __undef?(epsilon) ? real.rationalize : real.rationalize(epsilon)
  end

  def to_c = self
  def to_s = KumiSys.complex_text(self, false)
  def inspect = "(#{KumiSys.complex_text(self, true)})"

  private def marshal_dump = [real, imaginary]
end

module KumiSys
  # A Numeric that is no Complex.
  def self.real?(x)
    return true if __is_a(x, Integer) || __is_a(x, Float) || __is_a(x, Rational)
    __is_a(x, Numeric) && x.real?
  end

  # A real argument; a Complex whose imaginary part is zero counts as one.
  def self.real_part(x)
    return x if real?(x)
    return x.real if __is_a(x, Complex) && x.imaginary == 0
    raise TypeError, "not a real"
  end

  def self.exactly_real(c, target)
    if __is_a(c.imaginary, Float) || !(c.imaginary == 0)
      raise RangeError, "can't convert #{c} into #{target}"
    end
    c.real
  end

  # A Complex of a magnitude and an angle; exact at the axes.
  def self.polar(magnitude, angle)
    return __complex(magnitude, 0) if __is_a(angle, Integer) && angle == 0
    return __complex(0, 0) if __is_a(magnitude, Integer) && magnitude == 0
    if __is_a(angle, Float)
      return __complex(-magnitude, 0.0) if angle == Math::PI
      return __complex(0.0, magnitude) if angle == Math::PI / 2
    end
    a = angle.to_f
    cos = Math.cos(a)
    sin = Math.sin(a)
    __complex(magnitude * cos, magnitude * sin)
  end

  # One product of a multiplication: an infinity times zero is a zero with their sign.
  def self.safe_mul(a, b)
    if __is_a(a, Float) && a.infinite? && b == 0
      return negative?(a) == negative?(b) ? 0.0 : -0.0
    end
    if __is_a(b, Float) && b.infinite? && a == 0
      return negative?(a) == negative?(b) ? 0.0 : -0.0
    end
    a * b
  end

  def self.negative?(x) = __is_a(x, Float) ? __float_sign_bit(x) : x < 0

  def self.complex_mul(x, y)
    a = x.real
    b = x.imaginary
    c = y.real
    d = y.imaginary
    __complex(safe_mul(a, c) - safe_mul(b, d), safe_mul(a, d) + safe_mul(b, c))
  end

  def self.complex_div(x, y, op)
    unless __is_a(y, Complex)
      return __complex(plain(x.real.__send__(op, y)), plain(x.imaginary.__send__(op, y))) if real?(y)
      return coerce_bin(x, op, y)
    end
    a = x.real
    b = x.imaginary
    c = y.real
    d = y.imaginary
    inexact = __is_a(a, Float) || __is_a(b, Float) || __is_a(c, Float) || __is_a(d, Float)
    unless inexact
      n = c * c + d * d
      return __complex(plain((a * c + b * d).__send__(op, n)), plain((b * c - a * d).__send__(op, n)))
    end
    # Scaled by the larger part, so that squares do not overflow.
    if c.abs > d.abs
      r = d.__send__(:quo, c)
      n = c * (r * r + 1)
      __complex((a + b * r).__send__(op, n), (b - a * r).__send__(op, n))
    else
      r = c.__send__(:quo, d)
      n = d * (r * r + 1)
      __complex((a * r + b).__send__(op, n), (b * r - a).__send__(op, n))
    end
  end

  # A whole Rational as the Integer it is.
  def self.plain(x) = __is_a(x, Rational) && x.denominator == 1 ? x.numerator : x

  # A positive Integer power by squaring.
  def self.complex_pow(base, n)
    raise ArgumentError, "exponent is too large" if n.bit_length > 20 && complex_pow_refused?(base.real, base.imaginary, n)
    result = nil
    while true
      result = __same(result, nil) ? base : complex_mul(result, base) if n[0] == 1
      n >>= 1
      return result if n == 0
      base = complex_mul(base, base)
    end
  end

  # Would the power have more bits than an Integer's power may have? Each turn adds half a bit at least, but to units and 0.
  def self.complex_pow_refused?(re, im, n)
    return false unless complex_exact?(re) && complex_exact?(im)
    sum = re + im
    return false if re * im == 0 && sum.denominator == 1 && sum.abs <= 1
    bits = 0
    [re.numerator, re.denominator, im.numerator, im.denominator].each { |x| bits = x.bit_length if x.bit_length > bits }
    n * (bits > 2 ? bits - 1 : 1) > 2**29
  end

  def self.complex_exact?(part) = __is_a(part, Integer) || __is_a(part, Rational)

  def self.complex_text(c, inspect)
    im = c.imaginary
    negative = __is_a(im, Float) ? (__float_sign_bit(im) && !im.nan?) : im < 0
    size = im.abs
    real = inspect ? c.real.inspect : c.real.to_s
    text = inspect ? size.inspect : size.to_s
    star = text.match?(/\d\z/) ? "" : "*"
    "#{real}#{negative ? "-" : "+"}#{text}#{star}i"
  end
end
