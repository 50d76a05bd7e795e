# Numeric: what every number can do, for the built-in ones and for classes users derive.
class Numeric
  include Comparable

  def coerce(other)
    return [other, self] if __same(other.class, self.class)
    [Float(other), Float(self)]
  end

  def integer? = false
  def real? = true
  def real = self
  def imaginary = 0
  alias_method :imag, :imaginary
  def finite? = true
  def infinite? = nil

  def zero? = self == 0
  def nonzero? = zero? ? nil : self
  def positive? = self > 0
  def negative? = self < 0

  def -@
    zero, me = coerce(0)
    zero - me
  end

  def <=>(other) = __same(self, other) || self == other ? 0 : nil

  def eql?(other)
    return false unless __same(other.class, self.class)
    self == other
  end

  def abs = self < 0 ? -self : self
  alias_method :magnitude, :abs
  def abs2 = self * self

  def div(other)
    raise ZeroDivisionError, "divided by 0" if other == 0
    (self / other).floor
  end

  def fdiv(other) = Float(self) / other
  def quo(other)
    return fdiv(other) if __is_a(other, Float)
    exact = to_r
    KumiSys.bad_conversion(self, :Rational, :to_r, exact) unless __is_a(exact, Rational)
    exact / other
  end
  def %(other) = self - other * div(other)
  alias_method :modulo, :%
  def divmod(other) = [div(other), self % other]

  def remainder(other)
    me = self
    unless __is_a(other, Numeric)
      pair = KumiSys.try_coerce(self, other)
      me, other = pair unless __same(pair, nil)
    end
    rest = me % other
    if !(rest == 0) && ((me < 0 && other > 0) || (me > 0 && other < 0))
      return me if __is_a(other, Float) && other.infinite?
      return rest - other
    end
    rest
  end

  def to_int = to_i
  def to_c = __complex(self, 0)
  def numerator = to_r.numerator
  def denominator = to_r.denominator

  def floor(digits = 0) = Float(self).floor(digits)
  def ceil(digits = 0) = Float(self).ceil(digits)
  def round(digits = 0, half: nil) = Float(self).round(digits, half: half)
  def truncate(digits = 0) = Float(self).truncate(digits)

  def arg = negative? ? Math::PI : 0
  alias_method :angle, :arg
  alias_method :phase, :arg
  def rectangular = [self, 0]
  alias_method :rect, :rectangular
  def polar = [abs, arg]
  def conj = self
  alias_method :conjugate, :conj
  def i = __complex(0, self)

  def clone(freeze: true)
    raise ArgumentError, "can't unfreeze #{__describe_class(self)}" if __same(freeze, false)
    unless __same(freeze, true) || __same(freeze, nil)
      raise ArgumentError, "unexpected value for freeze: #{__describe_class(freeze)}"
    end
    self
  end

  def dup = self

  # Numbers are values: methods belong to their class.
  def singleton_method_added(name)
    singleton_class.__send__(:remove_method, name)
    raise TypeError, "can't define singleton method \"#{name}\" for #{__describe_class(self)}"
  end

  def step(limit = __undef, step = __undef, by: __undef, to: __undef, &)
    unless __undef?(to)
      raise ArgumentError, "to is given twice" unless __undef?(limit)
      limit = to
    end
    unless __undef?(by)
      raise ArgumentError, "step is given twice" unless __undef?(step)
      step = by
    end
    limit = nil if __undef?(limit)
    if block_given?
      step = 1 if __undef?(step)
      raise TypeError, "step must be numeric" if __same(step, nil)
      KumiSys.check_step(step)
      if __is_a(step, Float) || __is_a(self, Float) || __is_a(limit, Float)
        # Every value is computed from the start, so that errors don't add up.
        down = KumiSys.step_down?(step)
        from = Float(self)
        step = Float(step)
        last = __same(limit, nil) ? (down ? -Float::INFINITY : Float::INFINITY) : Float(limit)
        n = __float_steps(from, last, step, false)
        if step.infinite?
          yield from if n > 0
          return self
        end
        i = 0
        while i < n
          x = i * step + from
          x = last if down ? x < last : last < x
          yield x
          i += 1
        end
        return self
      end
      KumiSys.each_step(self, limit, step, &)
      return self
    end
    raise ArgumentError, "step can't be 0" if !__undef?(step) && !__same(step, nil) && step == 0
    unit = __undef?(step) || __same(step, nil) ? 1 : step
    args = []
    keywords = {}
    if __undef?(to)
      args << limit unless __same(limit, nil) && (__undef?(step) || !__undef?(by))
    else
      keywords[:to] = to
    end
    __undef?(by) ? (args << step unless __undef?(step)) : (keywords[:by] = by)
    if __is_a(unit, Numeric) && (__same(limit, nil) || __is_a(limit, Numeric))
      return KumiSys.arith_seq(self, limit, unit, false, self, :step, args, keywords)
    end
    to_enum(:step, *args, **keywords) { KumiSys.step_size(self, limit, unit) }
  end
end

module KumiSys
  def self.check_step(step)
    raise ArgumentError, "step can't be 0" if step == 0
  end

  # Is the step downwards? Anything that can't tell is an error.
  def self.step_down?(step)
    return step < 0 if __is_a(step, Integer) || __is_a(step, Float)
    r = 0 > step
    cmp_fail(0, step) if __same(r, nil)
    r
  end

  # Yields from, from + step, ... up to limit (nil: without end).
  def self.each_step(from, limit, step)
    down = step_down?(step)
    i = from
    if __same(limit, nil)
      while true
        yield i
        i += step
      end
    elsif __is_a(from, Integer) && __is_a(step, Integer) && __is_a(limit, Integer)
      while down ? i >= limit : i <= limit
        yield i
        i += step
      end
    else
      until down ? i < limit : i > limit
        yield i
        i += step
      end
    end
  end

  # How many values each_step yields.
  def self.step_size(from, limit, step)
    down = step_down?(step)
    return Float::INFINITY if __same(limit, nil)
    if __is_a(from, Float) || __is_a(step, Float) || __is_a(limit, Float)
      return __float_steps(Float(from), Float(limit), Float(step), false)
    end
    return Float::INFINITY if step == 0
    over = down ? from < limit : from > limit
    return 0 if over
    (limit - from).div(step) + 1
  end
end
