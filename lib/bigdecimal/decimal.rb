# frozen_string_literal: true

# What BigDecimal's methods are made of: numbers as an Integer times a power of ten.
#
# Every number made here is in lowest terms (`int` does not end in 0, zero has exponent 0), so that equal numbers have
# equal parts.

module BigDecimal::Decimal
  module_function

  TENS = Array.new(65) { |i| 10**i }.freeze

  def ten(n) = n <= 64 ? TENS[n] : 10**n

  # Decimal digits of an Integer's magnitude.
  def digits(int)
    int = int.abs
    return 1 if int < 10
    guess = (int.bit_length - 1) * 30103 / 100000
    int >= ten(guess) ? (int >= ten(guess + 1) ? guess + 2 : guess + 1) : guess
  end

  def raw(int, exp) = BigDecimal.__send__(:__new, int, exp, nil)
  def special(kind) = BigDecimal.__send__(:__new, 0, 0, kind)

  ZERO = raw(0, 0)
  NEGATIVE_ZERO = special(:nzero)
  NEGATIVE_INFINITY = special(:ninf)

  # The number in lowest terms; infinite or zero when its exponent is out of bounds.
  def make(int, exp)
    return ZERO if int == 0
    if int.even? && int % 10 == 0
      step = 1
      step *= 2 while int % ten(step * 2) == 0
      while step > 0
        power = ten(step)
        while int % power == 0
          int /= power
          exp += step
        end
        step /= 2
      end
    end
    return raw(int, exp) if exp.abs < (1 << 61)
    top = exp + digits(int)
    if top > BigDecimal.const_get(:EXPONENT_MAX)
      exception(BigDecimal::EXCEPTION_OVERFLOW, "exponent overflow")
      return int < 0 ? NEGATIVE_INFINITY : BigDecimal::INFINITY
    elsif top < -BigDecimal.const_get(:EXPONENT_MAX)
      exception(BigDecimal::EXCEPTION_UNDERFLOW, "exponent underflow")
      return int < 0 ? NEGATIVE_ZERO : ZERO
    end
    raw(int, exp)
  end

  # --- settings: the thread's own ------------------------------------------------------------

  DEFAULTS = { limit: 0, exceptions: 0, rounding: BigDecimal::ROUND_HALF_UP }.freeze
  # Nothing is looked up before anybody has set something.
  @touched = false

  def setting(name, default = DEFAULTS[name])
    touched? ? (Thread.current[:"bigdecimal #{name}"] || default) : default
  end

  def self.touched? = @touched

  def self.set(name, value)
    @touched = true
    Thread.current[:"bigdecimal #{name}"] = value
  end

  def rounding = setting(:rounding)

  def keep(name)
    before = setting(name)
    yield
  ensure
    set(name, before) if before != setting(name)
  end

  # Raises where the program asked for it.
  def exception(kind, text)
    flags = setting(:exceptions)
    return nil if flags & kind == 0
    raise FloatDomainError, text
  end

  def nan
    exception(BigDecimal::EXCEPTION_NaN, "Computation results in 'NaN' (Not a Number)")
    BigDecimal::NAN
  end

  def infinity(negative)
    exception(BigDecimal::EXCEPTION_INFINITY, "Computation results in '#{"-" if negative}Infinity'")
    negative ? NEGATIVE_INFINITY : BigDecimal::INFINITY
  end

  MODES = { up: 1, down: 2, truncate: 2, half_up: 3, default: 3, half_down: 4, half_even: 7, banker: 7, ceiling: 5, ceil: 5, floor: 6 }.freeze
  HALVES = { up: 3, down: 4, even: 7 }.freeze

  def rounding_of(mode)
    return half(mode.fetch(:half, nil)) if mode.is_a?(Hash)
    if mode.is_a?(Symbol) || mode.is_a?(String)
      MODES[mode.to_s.downcase.to_sym] or raise ArgumentError, "invalid rounding mode (#{mode})"
    elsif mode.nil?
      rounding
    else
      raise TypeError, "no implicit conversion of #{mode.class} into Integer" unless mode.respond_to?(:to_int)
      n = mode.to_int
      (1..7).cover?(n) ? n : raise(ArgumentError, "invalid rounding mode")
    end
  end

  def half(name)
    return rounding if name.nil?
    raise ArgumentError, "invalid rounding mode (#{name.inspect})" unless name.is_a?(Symbol) || name.respond_to?(:to_str)
    HALVES[name.to_s.downcase.to_sym] or raise ArgumentError, "invalid rounding mode: #{name}"
  end

  def whole(n)
    raise TypeError, "no implicit conversion from nil to integer" if n.nil?
    Integer(n.respond_to?(:to_int) ? n.to_int : raise(TypeError, "no implicit conversion of #{n.class} into Integer"))
  end

  def digit_count(n)
    n = whole(n)
    raise ArgumentError, "negative precision" if n < 0
    n
  end

  # --- rounding -------------------------------------------------------------------------------

  # An Integer divided by ten to the `drop`, rounded.
  def shift(int, drop, mode)
    neg = int < 0
    if drop > digits(int) + 1
      q, r, up = 0, int == 0 ? 0 : 1, -1
    else
      power = ten(drop)
      q, r = int.abs.divmod(power)
      up = (r * 2) <=> power
    end
    more = case mode
           when BigDecimal::ROUND_UP then r != 0
           when BigDecimal::ROUND_DOWN then false
           when BigDecimal::ROUND_HALF_UP then up >= 0
           when BigDecimal::ROUND_HALF_DOWN then up > 0
           when BigDecimal::ROUND_CEILING then r != 0 && !neg
           when BigDecimal::ROUND_FLOOR then r != 0 && neg
           else up > 0 || (up == 0 && q.odd?)
           end
    q += 1 if more
    neg ? -q : q
  end

  # Rounded at the n-th digit behind the point.
  def at(x, n, mode)
    return x if x.__int == 0 || -x.__exp <= n
    int = shift(x.__int, -x.__exp - n, mode)
    int == 0 && x.negative? ? NEGATIVE_ZERO : make(int, -n)
  end

  # Rounded to so many significant digits.
  def significant(x, n, mode = rounding)
    return x if n == 0 || !x.finite?
    drop = digits(x.__int) - n
    drop <= 0 ? x : make(shift(x.__int, drop, mode), x.__exp + drop)
  end

  def rounded(x, n)
    n = digit_count(n)
    n == 0 ? limited(x) : significant(x, n)
  end

  def limited(x)
    n = setting(:limit)
    n == 0 ? x : significant(x, n)
  end

  def cut(x, n, none, mode)
    if none
      check_whole(x)
      return at(x, 0, mode).to_i
    end
    n = whole(n)
    x.finite? ? at(x, n, mode) : x
  end

  def check_whole(x)
    return if x.finite?
    raise FloatDomainError, "Computation results in 'NaN' (Not a Number)" if x.nan?
    raise FloatDomainError, "Computation results in '#{x}'"
  end

  # --- other numbers ---------------------------------------------------------------------------

  # A number as a BigDecimal; nil when it is none. A Rational gets about as many digits as the other one has.
  def of(other, beside)
    case other
    when BigDecimal then other
    when Integer then make(other, 0)
    when Float then convert(other, 0, false, true)
    when Rational then convert(other, [2 * beside.n_significant_digits, 18].max, false, true)
    end
  end

  def of!(other, beside, op)
    of(other, beside) || begin
      a, b = pair(beside, other)
      a = of(a, beside)
      b = of(b, beside)
      raise TypeError, "#{name_of(other)} can't be coerced into BigDecimal" unless a && b
      b
    end
  end

  def name_of(x) = x.nil? || x == true || x == false ? x.inspect : x.class

  def pair(x, other)
    raise TypeError, "#{name_of(other)} can't be coerced into BigDecimal" unless other.respond_to?(:coerce)
    both = other.coerce(x)
    raise TypeError, "coerce must return [x, y]" unless both.is_a?(Array) && both.size == 2
    both
  end

  def coerced(x, op, other)
    a, b = pair(x, other)
    a.public_send(op, b)
  end

  def compare(a, b)
    return nil if a.nan? || b.nan?
    ia = a.infinite? || 0
    ib = b.infinite? || 0
    return ia <=> ib if ia != 0 || ib != 0
    x = a.__int
    y = b.__int
    return x <=> y if a.__exp == b.__exp || x == 0 || y == 0 || (x < 0) != (y < 0)
    top = a.exponent <=> b.exponent
    return x < 0 ? -top : top if top != 0
    d = a.__exp - b.__exp
    d > 0 ? x * ten(d) <=> y : x <=> y * ten(-d)
  end

  def order(a, other, op)
    c = a <=> other
    if c.nil?
      return false if other.is_a?(BigDecimal) || other.is_a?(Float) || (other.is_a?(Numeric) && a.nan?)
      if other.respond_to?(:coerce) && !other.is_a?(Numeric)
        x, y = pair(a, other)
        return x.public_send(op, y)
      end
      what = other.nil? || other == true || other == false || other.is_a?(Float) ? other.inspect : other.class
      raise ArgumentError, "comparison of BigDecimal with #{other.is_a?(String) ? other.inspect : what} failed"
    end
    yield c
  end

  # --- arithmetic ------------------------------------------------------------------------------

  def sum(a, b)
    return nan if a.nan? || b.nan?
    if a.infinite?
      return nan if b.infinite? && a.infinite? != b.infinite?
      return infinity(a.infinite? < 0)
    end
    return infinity(b.infinite? < 0) if b.infinite?
    if b.__int == 0
      return a.__int == 0 && (a.__kind != b.__kind) ? ZERO : a
    end
    return b if a.__int == 0
    d = a.__exp - b.__exp
    int, exp = if d == 0 then [a.__int + b.__int, a.__exp]
               elsif d > 0 then [a.__int * ten(d) + b.__int, b.__exp]
               else [a.__int + b.__int * ten(-d), a.__exp]
               end
    return rounding == BigDecimal::ROUND_FLOOR ? NEGATIVE_ZERO : ZERO if int == 0
    make(int, exp)
  end

  def below_zero?(x) = x.negative? || x.__kind == :nzero

  def product(a, b)
    return nan if a.nan? || b.nan?
    neg = below_zero?(a) != below_zero?(b)
    if a.infinite? || b.infinite?
      return nan if a.zero? || b.zero?
      return infinity(neg)
    end
    return neg ? NEGATIVE_ZERO : ZERO if a.__int == 0 || b.__int == 0
    make(a.__int * b.__int, a.__exp + b.__exp)
  end

  def quotient(a, b, n)
    return nan if a.nan? || b.nan?
    neg = below_zero?(a) != below_zero?(b)
    if a.infinite?
      return b.infinite? ? nan : infinity(neg)
    end
    return neg ? NEGATIVE_ZERO : ZERO if b.infinite?
    if b.zero?
      if a.zero?
        exception(BigDecimal::EXCEPTION_ZERODIVIDE, "Divide by zero")
        return nan
      end
      result = infinity(neg)
      exception(BigDecimal::EXCEPTION_ZERODIVIDE, "Divide by zero")
      return result
    end
    return neg ? NEGATIVE_ZERO : ZERO if a.zero?
    # One digit more than asked for, and one that says whether anything is left.
    up = [n + 2 + digits(b.__int) - digits(a.__int), 0].max
    q, r = (a.__int.abs * ten(up)).divmod(b.__int.abs)
    q = q * 10 + (r == 0 ? 0 : 1)
    significant(make(neg ? -q : q, a.__exp - b.__exp - up - 1), n)
  end

  # [floor of the quotient, what is left]
  def floor_divide(a, b)
    low = [a.__exp, b.__exp].min
    y = b.__int * ten(b.__exp - low)
    q, r = (a.__int * ten(a.__exp - low)).divmod(y)
    [q, make(r, low)]
  end

  # The root of a positive number, rounded to so many digits.
  def root(x, n)
    up = [2 * (n + 2) - digits(x.__int), 0].max
    up += 1 if (x.__exp - up).odd?
    int = x.__int * ten(up)
    r = Integer.sqrt(int)
    r = r * 10 + (r * r == int ? 0 : 1)
    significant(make(r, (x.__exp - up) / 2 - 1), n)
  end

  def power(x, other, n)
    case other
    when Integer then whole_power(x, other, n)
    when BigDecimal, Float, Rational
      return nan if x.nan? || (!other.is_a?(Rational) && other.nan?)
      if (other.is_a?(Rational) ? other.denominator == 1 : other.finite? && other == other.to_i)
        whole_power(x, other.to_i, n)
      else
        broken_power(x, of(other, x), n)
      end
    else raise TypeError, "wrong argument type #{name_of(other).to_s.sub("nil", "NilClass")} (expected scalar Numeric)"
    end
  end

  def whole_power(x, other, n)
    return nan if x.nan?
    return raw(1, 0) if other == 0
    odd_below = below_zero?(x) && other.odd?
    if x.zero?
      return other > 0 ? (odd_below ? NEGATIVE_ZERO : ZERO) : infinity(odd_below)
    elsif x.infinite?
      return other > 0 ? infinity(odd_below) : (odd_below ? NEGATIVE_ZERO : ZERO)
    end
    size = x.exponent * other
    if size.abs > (1 << 62)
      return (size > 0 ? (exception(BigDecimal::EXCEPTION_OVERFLOW, "exponent overflow"); odd_below ? NEGATIVE_INFINITY : BigDecimal::INFINITY) :
        (odd_below ? NEGATIVE_ZERO : ZERO))
    end
    limit = n > 0 ? n : setting(:limit)
    if other > 0
      return make(x.__int**other, x.__exp * other) if limit == 0
      significant(near_power(x, other, limit + 10), limit)
    else
      wanted = limit > 0 ? limit : [32, x.n_significant_digits * 2].max
      below = limit == 0 && x.n_significant_digits * -other <= wanted + 10 ? make(x.__int**-other, x.__exp * -other) : near_power(x, -other, wanted + 10)
      quotient(raw(1, 0), below, wanted)
    end
  end

  # By squaring, with so many digits kept, and some for what squaring loses.
  def near_power(x, other, n)
    n += other.bit_length
    result = raw(1, 0)
    while other > 0
      result = significant(product(result, x), n, BigDecimal::ROUND_HALF_EVEN) if other.odd?
      x = significant(product(x, x), n, BigDecimal::ROUND_HALF_EVEN)
      other >>= 1
    end
    result
  end

  def broken_power(x, other, n)
    if other.infinite?
      size = compare(x.abs, raw(1, 0))
      return raw(1, 0) if size == 0
      return (size > 0) == (other.infinite? > 0) ? infinity(false) : ZERO
    end
    raise Math::DomainError, "a non-integral exponent for a negative base" if x.negative?
    return other.negative? ? infinity(false) : ZERO if x.zero?
    return other.negative? ? ZERO : infinity(false) if x.infinite?
    n = setting(:limit) if n == 0
    n = [32, x.n_significant_digits].max if n == 0
    return root(x, n) if other == BigDecimal("0.5")
    inner = n + 10 + [other.exponent, 0].max + digits(x.exponent)
    significant(BigMath.exp(product(BigMath.log(x, inner), other), n + 5), n)
  end

  # --- from other things --------------------------------------------------------------------------

  def convert(value, n, none, raising)
    n = digit_count(n)
    case value
    when BigDecimal then significant(value, n)
    when Integer then make(value, 0)
    when Float
      return BigDecimal::NAN if value.nan?
      return value > 0 ? BigDecimal::INFINITY : NEGATIVE_INFINITY if value.infinite?
      return 1 / value < 0 ? NEGATIVE_ZERO : ZERO if value == 0
      raise ArgumentError, "precision too large." if n > 17
      n > Float::DIG ? significant(of_ratio(value.to_r, n + 3), n) : significant(parse(value.to_s, false), n)
    when Rational
      return (raising ? raise(ArgumentError, "can't omit precision for a Rational.") : nil) if none
      of_ratio(value, n)
    when Complex
      raise ArgumentError, "Unable to make a BigDecimal from non-zero imaginary number" unless value.imaginary == 0
      convert(value.real, n, none, raising)
    when String then parse(value, false, raising)
    when nil then raising ? raise(TypeError, "can't convert nil into BigDecimal") : nil
    else
      if value.respond_to?(:to_str)
        parse(value.to_str, false, raising)
      else
        raising ? raise(TypeError, "can't convert #{value.class} into BigDecimal") : nil
      end
    end
  end

  def of_ratio(r, n) = quotient(make(r.numerator, 0), make(r.denominator, 0), n == 0 ? 18 : n)

  STRICT = /\A\s*([+-]?)(\d+(?:_\d+)*)?(?:\.(\d+(?:_\d+)*)?)?(?:[eEdD]([+-]?\d+(?:_\d+)*))?\s*\z/
  LOOSE = /\A\s*([+-]?)(\d+(?:_\d+)*)?(?:\.(\d+(?:_\d+)*)?)?(?:[eEdD]([+-]?\d+(?:_\d+)*))?/
  WORDS = { "NaN" => :nan, "Infinity" => :inf, "+Infinity" => :inf, "-Infinity" => :ninf }.freeze

  def parse(text, loose, raising = true)
    text = text.to_str
    raise ArgumentError, "string contains null byte" if !loose && text.include?("\0")
    raise Encoding::CompatibilityError, "ASCII incompatible encoding: #{text.encoding}" unless text.encoding.ascii_compatible?
    text = text.b if text.encoding != Encoding::BINARY && !text.ascii_only?
    word = loose ? text[/\A\s*([+-]?Infinity|NaN)/, 1] : text.strip
    if (kind = WORDS[word])
      return kind == :nan ? BigDecimal::NAN : kind == :inf ? BigDecimal::INFINITY : NEGATIVE_INFINITY
    end
    m = (loose ? LOOSE : STRICT).match(text)
    if m.nil? || (m[2].nil? && m[3].nil?)
      return ZERO if loose
      return nil unless raising
      raise ArgumentError, "invalid value for BigDecimal(): #{text.dup.force_encoding(Encoding::UTF_8).inspect}"
    end
    front = m[2].to_s.delete("_")
    back = m[3].to_s.delete("_")
    int = (front + back).to_i
    return m[1] == "-" ? NEGATIVE_ZERO : ZERO if int == 0
    make(m[1] == "-" ? -int : int, m[4].to_s.delete("_").to_i - back.size)
  end

  # --- as text -----------------------------------------------------------------------------------

  def text(x, format)
    sign = group = nil
    plain = false
    case format
    when nil
    when Integer then group = format
    else
      f = format.to_str
      sign = f[0] if f.start_with?("+", " ")
      group = f[/\d+/].to_i
      plain = f.match?(/[fF]\z/)
    end
    group = nil if group && group <= 0
    lead = below_zero?(x) ? "-" : sign.to_s
    return x.nan? ? :NaN.to_s : "#{lead}Infinity" unless x.finite?
    return "#{lead}0.0" if x.__int == 0
    all = x.__int.abs.to_s
    unless plain
      return "#{lead}0.#{group ? grouped(all, group) : all}e#{x.exponent}"
    end
    at = x.exponent
    front = at <= 0 ? "0" : at >= all.size ? all + "0" * (at - all.size) : all[0, at]
    back = at <= 0 ? "0" * -at + all : at >= all.size ? "0" : all[at..]
    return "#{lead}#{front}.#{back}" unless group
    head = front.size % group
    front = [head > 0 ? front[0, head] : nil, *front[head..].scan(/.{1,#{group}}/)].compact.join(" ")
    "#{lead}#{front}.#{grouped(back, group)}"
  end

  def grouped(text, n) = text.scan(/.{1,#{n}}/).join(" ")
end
