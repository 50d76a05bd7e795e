# Range: iteration, membership, extremes. Integers and floats go by arithmetic,
# strings by String#upto, everything else by succ, + and <=>.
class Range
  include Enumerable

  def self.new(lo, hi, exclusive = false)
    r = allocate
    r.__send__(:initialize, lo, hi, exclusive)
    r.freeze if __same(self, Range)
    r
  end

  def initialize(lo, hi, exclusive = false)
    __check_frozen(self)
    raise NameError, "'initialize' called twice" if __ivar_get(self, :@__made)
    KumiSys.check_ends(lo, hi)
    __range_set(self, lo, hi, exclusive ? true : false)
    __ivar_set(self, :@__made, true) unless __same(__class(self), Range)
  end

  def initialize_copy(other)
    __check_frozen(self)
    __range_set(self, __range_lo(other), __range_hi(other), __range_excl(other))
  end

  def dup
    r = __class(self).allocate
    __range_set(r, __range_lo(self), __range_hi(self), __range_excl(self))
    return r if __same(__class(self), Range)
    instance_variables.each { |v| r.instance_variable_set(v, instance_variable_get(v)) }
    r.__send__(:initialize_dup, self)
    r
  end

  def first(n = __undef)
    lo = __range_lo(self)
    raise RangeError, "cannot get the first element of beginless range" if __same(lo, nil)
    return lo if __undef?(n)
    n = KumiSys.to_long(n)
    raise ArgumentError, "negative array size (or size too big)" if n < 0
    KumiSys.take(self, n)
  end

  def last(n = __undef)
    hi = __range_hi(self)
    raise RangeError, "cannot get the last element of endless range" if __same(hi, nil)
    return hi if __undef?(n)
    lo = __range_lo(self)
    return to_a.last(n) unless __is_a(lo, Integer) && __is_a(hi, Integer) && __builtin(self, :each)
    n = KumiSys.to_long(n)
    raise ArgumentError, "negative array size" if n < 0
    hi -= 1 if __range_excl(self)
    from = hi - n + 1
    from = lo if from < lo
    (from..hi).to_a
  end

  # --- iteration -------------------------------------------------------------

  def each
    return KumiSys.enum(self, :each, :size) unless block_given?
    lo = __range_lo(self)
    hi = __range_hi(self)
    if __is_a(lo, Integer)
      if __same(hi, nil)
        while true
          yield lo
          lo += 1
        end
      elsif __is_a(hi, Integer) || __is_a(hi, Float)
        if __range_excl(self)
          while lo < hi
            yield lo
            lo += 1
          end
        else
          while lo <= hi
            yield lo
            lo += 1
          end
        end
        return self
      end
    elsif __is_a(lo, String)
      if __same(hi, nil)
        while true
          yield lo
          lo = lo.succ
        end
      elsif __is_a(hi, String)
        lo.upto(hi, __range_excl(self)) { |s| yield s }
        return self
      end
    elsif __is_a(lo, Symbol) && (__same(hi, nil) || __is_a(hi, Symbol))
      if __same(hi, nil)
        s = lo.to_s
        while true
          yield s.to_sym
          s = s.succ
        end
      end
      lo.to_s.upto(hi.to_s, __range_excl(self)) { |s| yield s.to_sym }
      return self
    end
    unless lo.respond_to?(:succ)
      raise TypeError, "can't iterate from #{__describe_class(lo)}"
    end
    if __same(hi, nil)
      while true
        yield lo
        lo = lo.succ
      end
    elsif __range_excl(self)
      while KumiSys.order(lo, hi) < 0
        yield lo
        lo = lo.succ
      end
    else
      while (c = KumiSys.order(lo, hi)) <= 0
        yield lo
        break if c == 0
        lo = lo.succ
      end
    end
    self
  end

  def reverse_each
    hi = __range_hi(self)
    lo = __range_lo(self)
    unless block_given?
      return to_enum(:reverse_each) do
        raise TypeError, "can't iterate from #{__describe_class(hi)}" if __same(hi, nil)
        if __is_a(hi, Integer) && __same(lo, nil)
          Float::INFINITY
        elsif __is_a(lo, Integer) && __is_a(hi, Numeric)
          size
        elsif !lo.respond_to?(:succ) || !hi.respond_to?(:succ)
          raise TypeError, "can't iterate from #{__describe_class(hi)}"
        end
      end
    end
    raise TypeError, "can't iterate from #{__describe_class(hi)}" if __same(hi, nil)
    if __is_a(hi, Integer) && (__same(lo, nil) || __is_a(lo, Integer))
      hi -= 1 if __range_excl(self)
      while __same(lo, nil) || hi >= lo
        yield hi
        hi -= 1
      end
      return self
    end
    super
  end

  def step(by = __undef, &)
    lo = __range_lo(self)
    hi = __range_hi(self)
    lo_num = __is_a(lo, Numeric)
    text = __is_a(lo, String) || __is_a(lo, Symbol)
    if __undef?(by)
      unless lo_num || text || (__same(lo, nil) && __is_a(hi, Numeric))
        raise ArgumentError, "step is required for non-numeric ranges"
      end
      by = 1
      given = false
    else
      given = true
    end
    by_num = __is_a(by, Numeric)
    raise ArgumentError, "step can't be 0" if by_num && lo_num && by == 0
    unless block_given?
      if by_num && ((lo_num && (__same(hi, nil) || __is_a(hi, Numeric))) || (__same(lo, nil) && __is_a(hi, Numeric)))
        return KumiSys.arith_seq(lo, hi, by, __range_excl(self), self, :step, given ? [by] : [])
      end
      if __same(lo, nil)
        raise ArgumentError, "#step for non-numeric beginless ranges is meaningless"
      end
      return given ? to_enum(:step, by) : to_enum(:step)
    end
    if __same(lo, nil)
      raise ArgumentError, "#step iteration for beginless ranges is meaningless"
    end
    excl = __range_excl(self)
    if __is_a(lo, Integer) && __same(hi, nil) && __is_a(by, Integer)
      while true
        yield lo
        lo += by
      end
    elsif __is_a(lo, Integer) && __is_a(hi, Integer) && __is_a(by, Integer)
      if by < 0
        hi += 1 if excl
        while lo >= hi
          yield lo
          lo += by
        end
      else
        hi -= 1 if excl
        while lo <= hi
          yield lo
          lo += by
        end
      end
    elsif lo_num && by_num && (__same(hi, nil) || __is_a(hi, Numeric)) &&
          (__is_a(lo, Float) || __is_a(hi, Float) || __is_a(by, Float))
      KumiSys.float_step(lo, hi, by, excl, &)
    elsif text && __is_a(by, Integer)
      raise ArgumentError, "step can't be negative" if by < 0
      raise ArgumentError, "step can't be 0" if by == 0
      KumiSys.each_nth(self, by, &)
    elsif __same(hi, nil)
      while true
        yield lo
        lo += by
      end
    elsif lo_num && by_num && by < 0
      if excl
        while KumiSys.order(hi, lo) < 0
          yield lo
          lo += by
        end
      else
        while (c = KumiSys.order(hi, lo)) <= 0
          yield lo
          break if c == 0
          lo += by
        end
      end
    else
      way = KumiSys.order(lo, hi)
      if way == 0
        yield lo unless excl
      elsif way == KumiSys.order(lo, lo + by)
        if excl
          while KumiSys.order(lo, hi) == way
            yield lo
            lo += by
          end
        else
          while (c = KumiSys.order(lo, hi)) == way || c == 0
            yield lo
            break if c == 0
            lo += by
          end
        end
      end
    end
    self
  end

  def %(by, &)
    return step(by, &) if block_given?
    lo = __range_lo(self)
    hi = __range_hi(self)
    if __is_a(by, Numeric) && (__is_a(lo, Numeric) || (__same(lo, nil) && __is_a(hi, Numeric)))
      raise ArgumentError, "step can't be 0" if by == 0 && !__same(lo, nil)
      return KumiSys.arith_seq(lo, hi, by, __range_excl(self), self, :%, [by])
    end
    step(by)
  end

  def to_a
    hi = __range_hi(self)
    raise RangeError, "cannot convert endless range to an array" if __same(hi, nil)
    lo = __range_lo(self)
    if __is_a(lo, Integer) && __is_a(hi, Integer) && hi - lo > 0xffffffffff
      raise NoMemoryError, "failed to allocate memory"
    end
    super
  end
  alias entries to_a

  def to_set(*args, &block)
    raise RangeError, "cannot convert endless range to a set" if __same(__range_hi(self), nil)
    super
  end

  # --- size ------------------------------------------------------------------

  def size
    lo = __range_lo(self)
    hi = __range_hi(self)
    if __is_a(lo, Integer)
      return Float::INFINITY if __same(hi, nil)
      if __is_a(hi, Integer)
        n = hi - lo
        n += 1 unless __range_excl(self)
        return n < 0 ? 0 : n
      end
      return __flo_steps(lo.to_f, hi.to_f, 1.0, __range_excl(self)) if __is_a(hi, Numeric)
      return nil
    end
    raise TypeError, "can't iterate from #{__describe_class(lo)}" unless lo.respond_to?(:succ)
    nil
  end

  def count(x = __undef)
    return block_given? ? super { |v| yield v } : super if !__undef?(x) || block_given?
    lo = __range_lo(self)
    hi = __range_hi(self)
    return Float::INFINITY if __same(lo, nil) || __same(hi, nil)
    return size if __is_a(lo, Integer) && __is_a(hi, Integer)
    super()
  end

  def sum(init = 0)
    lo = __range_lo(self)
    hi = __range_hi(self)
    if !block_given? && __is_a(lo, Integer) && __is_a(hi, Integer) && __is_a(init, Integer)
      hi -= 1 if __range_excl(self)
      return init if hi < lo
      return init + (hi - lo + 1) * (hi + lo) / 2
    end
    block_given? ? super(init) { |v| yield v } : super(init)
  end

  # --- membership ------------------------------------------------------------

  def ===(x)
    KumiSys.covers(__range_lo(self), __range_hi(self), __range_excl(self), x)
  end

  def cover?(x)
    return KumiSys.covers_range(self, x) if __is_a(x, Range)
    KumiSys.covers(__range_lo(self), __range_hi(self), __range_excl(self), x)
  end

  def include?(x)
    lo = __range_lo(self)
    hi = __range_hi(self)
    if __is_a(lo, Numeric) || __is_a(hi, Numeric) || __is_a(lo, Time) || __is_a(hi, Time)
      return KumiSys.covers(lo, hi, __range_excl(self), x)
    end
    # What converts to an Integer is as linear as one.
    if __responds(lo, :to_int) || __responds(hi, :to_int)
      return KumiSys.covers(lo, hi, __range_excl(self), x)
    end
    return true if __same(lo, nil) && __same(hi, nil) && (__is_a(x, Numeric) || __is_a(x, Time))
    if __same(lo, nil) || __same(hi, nil)
      raise TypeError, "cannot determine inclusion in beginless/endless ranges"
    end
    if __is_a(lo, String) && __is_a(hi, String)
      x = KumiSys.try_str(x)
      return false unless x
      if lo.size == 1 && hi.size == 1 && lo.ascii_only? && hi.ascii_only?
        return false if x.size != 1
        return KumiSys.covers(lo, hi, __range_excl(self), x) if x.ascii_only?
      end
    end
    unless lo.respond_to?(:succ)
      raise TypeError, "can't iterate from #{__describe_class(lo)}"
    end
    super
  end
  alias member? include?

  def overlap?(other)
    unless __is_a(other, Range)
      raise TypeError, "wrong argument type #{__describe_class(other)} (expected Range)"
    end
    a = __range_lo(self)
    b = __range_hi(self)
    c = __range_lo(other)
    d = __range_hi(other)
    unless __same(a, nil) || __same(d, nil)
      o = KumiSys.order(a, d)
      return false if __range_excl(other) ? o >= 0 : o > 0
    end
    unless __same(c, nil) || __same(b, nil)
      o = KumiSys.order(c, b)
      return false if __range_excl(self) ? o >= 0 : o > 0
    end
    if !__same(a, nil) && !__same(c, nil)
      o = a <=> c
      return false if __same(o, nil)
      return true if o == 0
    elsif __same(a, nil) && __same(c, nil)
      return true if __same(b, nil) || __same(d, nil)
      return !__same(b <=> d, nil)
    end
    !KumiSys.empty_range?(a, b, __range_excl(self)) && !KumiSys.empty_range?(c, d, __range_excl(other))
  end

  # --- extremes --------------------------------------------------------------

  def min(n = __undef)
    lo = __range_lo(self)
    hi = __range_hi(self)
    raise RangeError, "cannot get the minimum of beginless range" if __same(lo, nil)
    if block_given?
      if __same(hi, nil)
        raise RangeError, "cannot get the minimum of endless range with custom comparison method"
      end
      return __undef?(n) ? super() { |a, b| yield a, b } : super(n) { |a, b| yield a, b }
    end
    return first(n) unless __undef?(n)
    c = __same(hi, nil) ? -1 : KumiSys.order(lo, hi)
    c > 0 || (c == 0 && __range_excl(self)) ? nil : lo
  end

  def max(n = __undef)
    lo = __range_lo(self)
    hi = __range_hi(self)
    raise RangeError, "cannot get the maximum of endless range" if __same(hi, nil)
    if block_given? || !__undef?(n) || (__range_excl(self) && !__is_a(hi, Numeric))
      if __same(lo, nil)
        if block_given? || __undef?(n)
          raise RangeError, "cannot get the maximum of beginless range with custom comparison method"
        end
        raise TypeError, "can't iterate from #{__describe_class(lo)}" unless __is_a(hi, Integer)
        hi -= 1 if __range_excl(self)
        return Array.new(KumiSys.count_arg(n)) { |i| hi - i }
      end
      if block_given?
        return __undef?(n) ? super() { |a, b| yield a, b } : super(n) { |a, b| yield a, b }
      end
      if __is_a(lo, Integer) && __is_a(hi, Integer) && !__undef?(n)
        n = KumiSys.count_arg(n)
        return last(n).reverse
      end
      return __undef?(n) ? super() : super(n)
    end
    c = __same(lo, nil) ? -1 : KumiSys.order(lo, hi)
    return nil if c > 0
    return hi unless __range_excl(self)
    raise TypeError, "cannot exclude non Integer end value" unless __is_a(hi, Integer)
    return nil if c == 0
    unless __is_a(lo, Integer) || __same(lo, nil)
      raise TypeError, "cannot exclude end value with non Integer begin value"
    end
    hi - 1
  end

  def minmax
    if block_given?
      if __same(__range_lo(self), nil)
        raise RangeError, "cannot get the minimum of beginless range with custom comparison method"
      elsif __same(__range_hi(self), nil)
        raise RangeError, "cannot get the maximum of endless range with custom comparison method"
      end
      return super { |a, b| yield a, b }
    end
    [min, max]
  end

  # --- binary search ---------------------------------------------------------

  def bsearch
    lo = __range_lo(self)
    hi = __range_hi(self)
    lo_ok = __is_a(lo, Integer) || __is_a(lo, Float)
    hi_ok = __is_a(hi, Integer) || __is_a(hi, Float)
    unless (lo_ok && (hi_ok || __same(hi, nil))) || (__same(lo, nil) && hi_ok)
      bad = lo_ok || __same(lo, nil) ? hi : lo
      bad = lo if __same(bad, nil)
      raise TypeError, "can't do binary search for #{__describe_class(bad)}"
    end
    return KumiSys.enum(self, :bsearch, nil) unless block_given?
    excl = __range_excl(self)
    if __is_a(lo, Float) || __is_a(hi, Float)
      a = __flo_key(__same(lo, nil) ? -Float::INFINITY : lo.to_f)
      b = __flo_key(__same(hi, nil) ? Float::INFINITY : hi.to_f)
      b -= 1 if excl
      found = KumiSys.halve(a, b) { |k| yield __key_flo(k) }
      return found && __key_flo(found)
    end
    if __same(hi, nil)
      step = 1
      while true
        probe = lo + step
        r = yield probe
        return probe if __is_a(r, Numeric) && r == 0
        if __same(r, true) || (__is_a(r, Numeric) && r < 0)
          return KumiSys.halve(lo, probe) { |k| yield k }
        end
        KumiSys.check_answer(r)
        lo = probe
        step *= 2
      end
    elsif __same(lo, nil)
      hi -= 1 if excl
      step = 1
      while true
        probe = hi - step
        r = yield probe
        return probe if __is_a(r, Numeric) && r == 0
        if __same(r, false) || __same(r, nil) || (__is_a(r, Numeric) && r > 0)
          return KumiSys.halve(probe, hi) { |k| yield k }
        end
        KumiSys.check_answer(r)
        hi = probe
        step *= 2
      end
    end
    hi -= 1 if excl
    KumiSys.halve(lo, hi) { |k| yield k }
  end

  # --- relations and text ----------------------------------------------------

  def ==(other)
    return true if __same(self, other)
    return false unless __is_a(other, Range)
    KumiSys.range_equal?(self, other, false)
  end

  def eql?(other)
    return true if __same(self, other)
    return false unless __is_a(other, Range)
    KumiSys.range_equal?(self, other, true)
  end

  def hash
    __range_hash(KumiSys.to_int(__range_lo(self).hash), KumiSys.to_int(__range_hi(self).hash), __range_excl(self))
  end

  def to_s
    "#{__range_lo(self)}#{__range_excl(self) ? "..." : ".."}#{__range_hi(self)}"
  end

  def inspect
    lo = __range_lo(self)
    hi = __range_hi(self)
    s = KumiSys.recursing(:inspect, self) do
      out = +""
      out << KumiSys.inspect(lo) if !__same(lo, nil) || __same(hi, nil)
      out << (__range_excl(self) ? "..." : "..")
      out << KumiSys.inspect(hi) if !__same(hi, nil) || __same(lo, nil)
      out
    end
    s || (__range_excl(self) ? "(... ... ...)" : "(... .. ...)")
  end
end

module KumiSys
  def self.range_equal?(a, b, eql)
    r = recursing_pair(eql ? :eql? : :==, a, b) do
      from = __range_lo(a)
      to = __range_hi(a)
      [__range_excl(a) == __range_excl(b) &&
        (eql ? from.eql?(__range_lo(b)) && to.eql?(__range_hi(b)) : from == __range_lo(b) && to == __range_hi(b))]
    end
    r ? __ary_at(r, 0) : true
  end

  # Can lo and hi be the ends of a range?
  def self.check_ends(lo, hi)
    return if __same(lo, nil) || __same(hi, nil)
    return if __is_a(lo, Integer) && __is_a(hi, Integer)
    c = lo <=> hi
    raise ArgumentError, "bad value for range" if __same(c, nil)
  end

  # The sign of a <=> b; 2 when they cannot be compared.
  def self.order(a, b)
    c = a <=> b
    return c if __is_a(c, Integer) && c >= -1 && c <= 1
    return 2 if __same(c, nil)
    cmp_int(c, a, b)
  end

  def self.covers(lo, hi, excl, x)
    unless __same(lo, nil)
      return false if order(lo, x) > 0
    end
    return true if __same(hi, nil)
    excl ? order(x, hi) < 0 : order(x, hi) <= 0
  end

  def self.covers_range(range, other)
    lo = __range_lo(range)
    hi = __range_hi(range)
    a = __range_lo(other)
    b = __range_hi(other)
    return false if !__same(hi, nil) && __same(b, nil)
    return false if !__same(lo, nil) && __same(a, nil)
    if !__same(a, nil) && !__same(b, nil)
      o = order(a, b)
      return false if o > (__range_excl(other) ? -1 : 0)
    end
    return false if !__same(a, nil) && !covers(lo, hi, __range_excl(range), a)
    return !(__same(b, nil) && __range_excl(range) && !__range_excl(other)) if __same(hi, nil)
    o = order(hi, b)
    return o >= 0 && o != 2 if __range_excl(range) == __range_excl(other)
    return o > 0 && o != 2 if __range_excl(range)
    return true if o >= 0 && o != 2
    top = begin
      other.max
    rescue TypeError
      nil
    end
    return false if __same(top, nil)
    o = order(hi, top)
    o >= 0 && o != 2
  end

  def self.empty_range?(lo, hi, excl)
    return false if __same(lo, nil) || __same(hi, nil)
    o = order(lo, hi)
    o > 0 || (excl && o == 0)
  end

  # Floats from lo in steps, each computed from the start so that errors do not add up.
  # Yields every by-th element.
  def self.each_nth(range, by)
    i = 0
    range.each do |v|
      yield v if i % by == 0
      i += 1
    end
  end

  def self.float_step(lo, hi, by, excl)
    by = by.to_f
    lo = lo.to_f
    hi = __same(hi, nil) ? (by < 0 ? -Float::INFINITY : Float::INFINITY) : hi.to_f
    n = __flo_steps(lo, hi, by, excl)
    if by == Float::INFINITY || by == -Float::INFINITY
      yield lo if n > 0
    elsif by == 0.0
      while true
        yield lo
      end
    else
      i = 0
      while i < n
        d = i * by + lo
        d = hi if by >= 0 ? hi < d : d < hi
        yield d
        i += 1
      end
    end
  end

  def self.check_answer(r)
    return if __same(r, true) || __same(r, false) || __same(r, nil) || __is_a(r, Numeric)
    raise TypeError, "wrong argument type #{__describe_class(r)} (must be numeric, true, false or nil)"
  end

  # Binary search among the integers lo..hi; nil when there is none.
  def self.halve(lo, hi)
    found = nil
    while lo <= hi
      mid = lo + (hi - lo) / 2
      r = yield mid
      if __same(r, true)
        found = mid
        hi = mid - 1
      elsif __same(r, false) || __same(r, nil)
        lo = mid + 1
      elsif __is_a(r, Numeric)
        return mid if r == 0
        r < 0 ? hi = mid - 1 : lo = mid + 1
      else
        check_answer(r)
      end
    end
    found
  end
end
