# Kernel's conversion functions, and the Strings' and nil's ways to numbers.
module Kernel
  def Integer(value, base = __undef, exception: true) = KumiSys.integer(value, base, exception)
  def Float(value, exception: true) = KumiSys.float(value, exception)
  def Rational(value, divisor = __undef, exception: true) = KumiSys.rational(value, divisor, exception)
  def Complex(real, imaginary = __undef, exception: true) = KumiSys.complex(real, imaginary, exception)
  module_function :Integer, :Float, :Rational, :Complex
end

module KumiSys
  # `exception: false` turns every failure into nil.
  def self.check_exception_flag(flag)
    return if __same(flag, true) || __same(flag, false)
    raise ArgumentError, "expected true or false as exception: #{inspect(flag)}"
  end

  def self.quietly
    yield
  rescue StandardError
    nil
  end

  def self.integer(value, base, exception)
    check_exception_flag(exception)
    return read_integer(value, base) if exception
    quietly { read_integer(value, base) }
  end

  def self.read_integer(value, base)
    radix = 0
    unless __undef?(base) || __same(base, nil)
      text = try_str(value)
      raise ArgumentError, "base specified for non string value" if __same(text, nil)
      return parse_integer(text, to_int(base))
    end
    return value if __is_a(value, Integer)
    return parse_integer(value, radix) if __is_a(value, String)
    return value.to_i if __is_a(value, Float)
    raise TypeError, "can't convert nil into Integer" if __same(value, nil)
    converted = check_call(value, :to_int)
    return converted if !__undef?(converted) && __is_a(converted, Integer)
    text = try_str(value)
    return parse_integer(text, radix) unless __same(text, nil)
    converted = check_call(value, :to_i)
    raise TypeError, "can't convert #{__describe_type(value)} into Integer" if __undef?(converted)
    return converted if __is_a(converted, Integer)
    bad_conversion(value, :Integer, :to_i, converted)
  end

  def self.parse_integer(text, base)
    check_number_text(text)
    n = __parse_int(text, base, true)
    raise ArgumentError, "invalid value for Integer(): #{text.inspect}" if __same(n, nil)
    n
  end

  def self.check_number_text(text)
    return if text.encoding.ascii_compatible?
    raise Encoding::CompatibilityError, "ASCII incompatible encoding: #{text.encoding}"
  end

  def self.float(value, exception)
    check_exception_flag(exception)
    return read_float(value) if exception
    quietly { read_float(value) }
  end

  def self.read_float(value)
    return value if __is_a(value, Float)
    if __is_a(value, String)
      f = __parse_float(value, true)
      return f unless __same(f, nil)
      raise ArgumentError, "string for Float contains null byte" if value.include?("\0")
      raise ArgumentError, "invalid value for Float(): #{value.inspect}"
    end
    return to_float(value) if __is_a(value, Numeric)
    raise TypeError, "can't convert #{__describe_type(value)} into Float" if __same(value, nil) || __same(value, true) || __same(value, false)
    f = check_call(value, :to_f)
    raise TypeError, "can't convert #{__describe_type(value)} into Float" if __undef?(f)
    return f if __is_a(f, Float)
    bad_conversion(value, :Float, :to_f, f)
  end

  def self.rational(value, divisor, exception)
    check_exception_flag(exception)
    return read_rational(value, divisor, true) if exception
    quietly { read_rational(value, divisor, false) }
  end

  def self.read_rational(value, divisor, exception)
    if __same(value, nil) || __same(divisor, nil)
      raise TypeError, "can't convert nil into Rational"
    end
    a = rational_part(value)
    return rational_of(a, value) if __undef?(divisor)
    b = rational_part(divisor)
    raise TypeError, "can't convert #{__describe_type(value)} into Rational" unless __is_a(a, Numeric)
    raise TypeError, "can't convert #{__describe_type(divisor)} into Rational" unless __is_a(b, Numeric)
    return __rat(a, b) if __is_a(a, Integer) && __is_a(b, Integer)
    a = __rat(a, 1) if __is_a(a, Integer)
    a / b
  end

  # An operand of Rational() made as exact as it can be.
  def self.rational_part(x)
    return x if __is_a(x, Integer) || __is_a(x, Rational)
    return x.to_r if __is_a(x, Float)
    if __is_a(x, Complex)
      return x.real.to_r if __is_a(x.imaginary, Integer) && x.imaginary == 0
      return x
    end
    if __is_a(x, String)
      r = __parse_rational(x, true)
      raise ArgumentError, "string contains null byte" if __same(r, nil) && x.include?("\0")
      raise ArgumentError, "invalid value for convert(): #{x.inspect}" if __same(r, nil)
      return r
    end
    unless __is_a(x, Numeric)
      n = begin
        check_call(x, :to_int)
      rescue StandardError
        __undef
      end
      return n if !__undef?(n) && __is_a(n, Integer)
    end
    r = check_call(x, :to_r)
    return x if __undef?(r)
    return r if __is_a(r, Rational)
    bad_conversion(x, :Rational, :to_r, r)
  end

  def self.rational_of(x, original)
    return x if __is_a(x, Rational)
    return __rat(x, 1) if __is_a(x, Integer)
    if __is_a(x, Complex)
      return x.to_r
    end
    raise TypeError, "can't convert #{__describe_type(original)} into Rational"
  end

  def self.complex(real, imaginary, exception)
    check_exception_flag(exception)
    check_number_text(real) if __is_a(real, String)
    check_number_text(imaginary) if __is_a(imaginary, String)
    if __is_a(imaginary, Numeric) && !__is_a(real, Numeric) && !__is_a(real, String) && !__same(real, nil)
      raise TypeError, "not a real"
    end
    return read_complex(real, imaginary) if exception
    quietly { read_complex(real, imaginary) }
  end

  def self.read_complex(real, imaginary)
    if __same(real, nil) || __same(imaginary, nil)
      raise TypeError, "can't convert nil into Complex"
    end
    a = __is_a(real, String) ? parse_complex(real) : real
    if __undef?(imaginary)
      return a if __is_a(a, Complex)
      return __complex(a, 0) if real?(a)
      return a if __is_a(a, Numeric)
      c = check_call(a, :to_c)
      raise TypeError, "can't convert #{__describe_type(a)} into Complex" if __undef?(c)
      return c if __is_a(c, Complex)
      bad_conversion(a, :Complex, :to_c, c)
    end
    b = __is_a(imaginary, String) ? parse_complex(imaginary) : imaginary
    a = exact_part(a)
    b = exact_part(b)
    raise TypeError, "not a real" unless __is_a(a, Numeric) && __is_a(b, Numeric)
    return __complex(a, b) if real?(a) && real?(b)
    # a + b*i, where b may be complex itself.
    a + b * __complex(0, 1)
  end

  # A Complex with an exact zero imaginary part counts as its real part.
  def self.exact_part(x)
    return x.real if __is_a(x, Complex) && __is_a(x.imaginary, Integer) && x.imaginary == 0
    x
  end

  def self.parse_complex(text)
    c = __parse_complex(text, true)
    raise ArgumentError, "string contains null byte" if __same(c, nil) && text.include?("\0")
    raise ArgumentError, "invalid value for convert(): #{text.inspect}" if __same(c, nil)
    __is_a(c, Array) ? polar(c[0], c[1]) : c
  end
end

class NilClass
  def to_r = __rat(0, 1)
  def to_c = __complex(0, 0)
  def rationalize(epsilon = nil) = __rat(0, 1)
end
