# Comparable: relations from <=>.
module Comparable
  def ==(other)
    return true if __same(self, other)
    r = KumiSys.recursing_pair(:compare, self, other) { [self <=> other] }
    return false if __same(r, nil)
    c = __ary_at(r, 0)
    return false if __same(c, nil)
    KumiSys.cmp_int(c, self, other) == 0
  end

  def >(other)
    KumiSys.cmp_int(self <=> other, self, other) > 0
  end

  def >=(other)
    KumiSys.cmp_int(self <=> other, self, other) >= 0
  end

  def <(other)
    KumiSys.cmp_int(self <=> other, self, other) < 0
  end

  def <=(other)
    KumiSys.cmp_int(self <=> other, self, other) <= 0
  end

  def between?(low, high)
    return false if KumiSys.cmp_int(self <=> low, self, low) < 0
    KumiSys.cmp_int(self <=> high, self, high) <= 0
  end

  def clamp(low, high = __undef)
    if __undef?(high)
      unless __is_a(low, Range)
        raise TypeError, "wrong argument type #{__describe_class(low)} (expected Range)"
      end
      range = low
      low = __range_lo(range)
      high = __range_hi(range)
      if __range_excl(range) && !__same(high, nil)
        raise ArgumentError, "cannot clamp with an exclusive range"
      end
    end
    unless __same(low, nil) || __same(high, nil)
      if KumiSys.cmp_int(low <=> high, low, high) > 0
        raise ArgumentError, "min argument must be less than or equal to max argument"
      end
    end
    unless __same(low, nil)
      c = KumiSys.cmp_int(self <=> low, self, low)
      return self if c == 0
      return low if c < 0
    end
    unless __same(high, nil)
      return high if KumiSys.cmp_int(self <=> high, self, high) > 0
    end
    self
  end
end
