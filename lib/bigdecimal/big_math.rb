# frozen_string_literal: true

# Exponential and logarithm, by series over Integers with a fixed point.
module BigMath
  module_function

  def __precision(n, name)
    raise ArgumentError, "Zero or negative precision for #{name}" unless n.is_a?(Integer) ? n > 0 : n.respond_to?(:to_int) && (n = n.to_int) > 0
    n
  end

  def __number(x, name, prec)
    case x
    when BigDecimal then x
    when Integer, Float then BigDecimal(x, 0)
    when Rational then BigDecimal(x, prec + 10)
    when nil then raise ArgumentError, "nil can't be coerced into BigDecimal"
    when Complex then raise Math::DomainError, "Complex argument for BigMath.#{name}"
    else raise ArgumentError, "#{x.inspect} can't be coerced into BigDecimal"
    end
  end

  # e to the x, with so many digits.
  def exp(x, prec)
    prec = __precision(prec, "exp")
    x = __number(x, "exp", prec)
    return x if x.nan?
    return x.infinite? > 0 ? x : BigDecimal(0) if x.infinite?
    return BigDecimal(1) if x.zero?
    return x.negative? ? BigDecimal(0) : BigDecimal::INFINITY if x.exponent > 20
    # The result has about so many digits before its point.
    size = (x.to_f / 2.302585092994046).abs.ceil
    digits = prec + 12 + size.to_s.size
    one = 10**digits
    # x = whole * ln 10 + rest, and the rest is halved until its series is short.
    ln10 = __log_fixed(10, 1, digits + size.to_s.size + 5)
    ln10_one = 10**(digits + size.to_s.size + 5)
    scaled = (x * ln10_one).round.to_i
    whole, rest = scaled.divmod(ln10)
    rest = rest * one / ln10_one
    halvings = Integer.sqrt(digits) / 2 + 4
    y = rest >> halvings
    sum = term = one
    n = 1
    until term == 0
      term = term * y / (one * n)
      sum += term
      n += 1
    end
    halvings.times { sum = sum * sum / one }
    BigDecimal("#{sum}e#{whole - digits}").mult(1, prec)
  end

  # The natural logarithm, with so many digits.
  def log(x, prec)
    raise ArgumentError, "Zero or negative precision for exponential" unless prec.is_a?(Integer) && prec > 0
    x = __number(x, "log", prec)
    return x if x.nan?
    raise Math::DomainError, "Zero or negative argument for log" if x.zero? || x.negative?
    return x if x.infinite?
    return BigDecimal(0) if x == 1
    e = x.exponent
    # Near one the first digits vanish.
    near = (x - 1).exponent
    digits = prec + 12 + [-near, 0].max + e.to_s.size
    _, text, = x.split
    mantissa = text.to_i
    value = __log_fixed(mantissa, 10**(text.size), digits) + (e == 0 ? 0 : e * __log_fixed(10, 1, digits))
    BigDecimal("#{value}e-#{digits}").mult(1, prec)
  end

  # ln(num / den) times ten to the digits, an Integer.
  def __log_fixed(num, den, digits)
    guard = 10
    one = 10**(digits + guard)
    x = num * one / den
    # Roots bring the number near one, where 2 * atanh((x - 1) / (x + 1)) is short.
    roots = 0
    while (x - one).abs > one / 1000 && roots < 60
      x = Integer.sqrt(x * one)
      roots += 1
    end
    # What a root loses grows by two with each: work with more digits when there were many.
    if roots > 0 && guard < roots
      return __log_fixed_wide(num, den, digits, roots)
    end
    __atanh_twice(x, one, roots) / 10**guard
  end

  def __log_fixed_wide(num, den, digits, roots)
    guard = roots + 10
    one = 10**(digits + guard)
    x = num * one / den
    roots.times { x = Integer.sqrt(x * one) }
    __atanh_twice(x, one, roots) / 10**guard
  end

  def __atanh_twice(x, one, roots)
    return -__atanh_twice(one * one / x, one, roots) if x < one
    t = (x - one) * one / (x + one)
    square = t * t / one
    sum = term = t
    n = 3
    until term == 0
      term = term * square / one
      sum += term / n
      n += 2
    end
    (sum * 2) << roots
  end
  private_class_method :__precision, :__number, :__log_fixed, :__log_fixed_wide, :__atanh_twice
end
