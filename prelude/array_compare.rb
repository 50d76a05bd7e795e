# Array: equality, sets of elements, order. The natives handle plain elements;
# what is here asks the elements themselves.
class Array
  def ==(other)
    return true if __same(self, other)
    unless __is_a(other, Array)
      return false unless other.respond_to?(:to_ary)
      return other == self ? true : false
    end
    KumiSys.array_equal?(self, other, false)
  end

  def eql?(other)
    return true if __same(self, other)
    return false unless __is_a(other, Array)
    KumiSys.array_equal?(self, other, true)
  end

  def hash
    KumiSys.hash_outer(self, __ary_len(self)) do
      hs = __ary_new(__ary_len(self))
      i = 0
      until __undef?(item = __ary_item(self, i))
        __ary_push(hs, KumiSys.to_int(item.hash))
        i += 1
      end
      __ary_hash(hs)
    end
  end

  def <=>(other)
    other = KumiSys.try_ary(other)
    return nil unless other
    r = KumiSys.recursing_pair(:<=>, self, other) do
      i = 0
      out = nil
      while i < __ary_len(self) && i < __ary_len(other)
        c = __ary_at(self, i) <=> __ary_at(other, i)
        unless c == 0
          out = [c]
          break
        end
        i += 1
      end
      out || [__ary_len(self) <=> __ary_len(other)]
    end
    r ? __ary_at(r, 0) : __ary_len(self) <=> __ary_len(other)
  end

  def -(other)
    KumiSys.sieve(self, KumiSys.to_ary(other), false)
  end

  def &(other)
    KumiSys.sieve(self, KumiSys.to_ary(other), true)
  end

  def |(other)
    KumiSys.distinct([self, KumiSys.to_ary(other)])
  end

  def difference(*others)
    r = __builtin(self, :-) && __ary_len(others) > 0 ? self : __ary_copy(self)
    i = 0
    while i < __ary_len(others)
      r = r - KumiSys.to_ary(__ary_at(others, i))
      i += 1
    end
    r
  end

  def intersection(*others)
    r = __builtin(self, :&) && __ary_len(others) > 0 ? self : __ary_copy(self)
    i = 0
    while i < __ary_len(others)
      r = r & KumiSys.to_ary(__ary_at(others, i))
      i += 1
    end
    r
  end

  def union(*others)
    r = __builtin(self, :|) && __ary_len(others) > 0 ? self : uniq
    i = 0
    while i < __ary_len(others)
      r = r | KumiSys.to_ary(__ary_at(others, i))
      i += 1
    end
    r
  end

  def intersect?(other)
    other = KumiSys.to_ary(other)
    __ary_len(self & other) > 0
  end

  # --- order -----------------------------------------------------------------

  def sort(&)
    KumiSys.ordered(self, &)
  end

  def sort_by
    return KumiSys.enum(self, :sort_by, :size) unless block_given?
    keys = __ary_new(__ary_len(self))
    values = __ary_new(__ary_len(self))
    i = 0
    until __undef?(v = __ary_item(self, i))
      k = yield v
      __ary_push(keys, k)
      __ary_push(values, v)
      i += 1
    end
    KumiSys.sort_by_keys(keys, values)
  end

  def min(n = nil, &) = __same(n, nil) ? KumiSys.extreme(self, -1, &) : KumiSys.least(self, n, &)
  def max(n = nil, &) = __same(n, nil) ? KumiSys.extreme(self, 1, &) : KumiSys.most(self, n, &)

  def minmax
    return [min, max] unless block_given?
    [min { |a, b| yield a, b }, max { |a, b| yield a, b }]
  end

  def sum(init = 0)
    a = self
    if block_given?
      i = 0
      if __is_a(init, Integer)
        # Integers are added up as they come; the first other value ends that.
        until __undef?(item = __ary_item(self, i))
          v = yield item
          i += 1
          unless __is_a(v, Integer)
            a = [v]
            break
          end
          init += v
        end
        return init if __same(a, self)
      else
        a = __ary_new(__ary_len(self))
      end
      until __undef?(item = __ary_item(self, i))
        v = yield item
        __ary_push(a, v)
        i += 1
      end
    end
    r = __ary_sum(a, init)
    return r unless __undef?(r)
    KumiSys.sum(a, init)
  end
end

module KumiSys
  # Are the elements equal one by one, by == or by eql?
  def self.array_equal?(a, b, eql)
    return false if __ary_len(a) != __ary_len(b)
    r = recursing_pair(eql ? :eql? : :==, a, b) do
      i = 0
      same = true
      until __undef?(x = __ary_item(a, i))
        y = __ary_at(b, i)
        unless (__same(x, y) || (eql ? x.eql?(y) : x == y)) && (eql || __ary_len(a) == __ary_len(b))
          same = false
          break
        end
        i += 1
      end
      same
    end
    __same(r, nil) ? true : r
  end

  # The least (`sign` -1) or greatest (1) element, the first of equal ones, by the block or by <=>.
  def self.extreme(a, sign)
    return nil if __ary_len(a) == 0
    given = block_given?
    unless given
      r = sign < 0 ? __ary_min(a) : __ary_max(a)
      return r unless __undef?(r)
    end
    best = __ary_at(a, 0)
    other = -sign
    i = 1
    until __undef?(v = __ary_item(a, i))
      if given
        best = v if cmp_int(yield(v, best), v, best) == sign
      elsif cmp_int(best <=> v, best, v) == other
        best = v
      end
      i += 1
    end
    best
  end

  # The extremes as `[a, b].max` and Enumerable ask for them: each element is compared with the best one, not that with it.
  def self.list_max(a) = list_best(a, __ary_max(a), 1)
  def self.list_min(a) = list_best(a, __ary_min(a), -1)

  def self.list_best(a, best, sign)
    return best unless __undef?(best)
    best = __ary_at(a, 0)
    i = 1
    until __undef?(v = __ary_item(a, i))
      best = v if cmp_int(v <=> best, v, best) == sign
      i += 1
    end
    best
  end

  # Elements of the arrays, each kind once.
  def self.distinct(arrays)
    seen = {}
    out = __ary_new
    arrays.each do |a|
      i = 0
      while i < __ary_len(a)
        v = __ary_at(a, i)
        unless seen.key?(v)
          seen[v] = true
          __ary_push(out, v)
        end
        i += 1
      end
    end
    out
  end

  def self.key_set(a)
    seen = {}
    i = 0
    while i < __ary_len(a)
      seen[__ary_at(a, i)] = true
      i += 1
    end
    seen
  end

  # The elements of a that are in b too, each once, or those that are not.
  def self.sieve(a, b, common)
    out = __ary_new
    set = key_set(b)
    i = 0
    while i < __ary_len(a)
      v = __ary_at(a, i)
      __ary_push(out, v) if common ? set.delete(v) : !set.key?(v)
      i += 1
    end
    out
  end

  # Sorts a (an array of ours) by the block; stable.
  def self.merge_sort(a)
    n = __ary_len(a)
    b = __ary_copy(a)
    width = 1
    while width < n
      lo = 0
      while lo < n
        mid = lo + width
        mid = n if mid > n
        hi = mid + width
        hi = n if hi > n
        i = lo
        j = mid
        k = lo
        while i < mid && j < hi
          x = a[i]
          y = a[j]
          c = yield x, y
          unless __is_a(c, Integer)
            c = cmp_int(c, x, y)
          end
          if c <= 0
            b[k] = x
            i += 1
          else
            b[k] = y
            j += 1
          end
          k += 1
        end
        while i < mid
          b[k] = a[i]
          i += 1
          k += 1
        end
        while j < hi
          b[k] = a[j]
          j += 1
          k += 1
        end
        lo = hi
      end
      a, b = b, a
      width *= 2
    end
    a
  end

  # The values in the order of their keys.
  def self.sort_by_keys(keys, values)
    r = __ary_sort_by(keys, values)
    return r unless __undef?(r)
    pairs = __ary_new(__ary_len(keys))
    i = 0
    while i < __ary_len(keys)
      __ary_push(pairs, [__ary_at(keys, i), __ary_at(values, i)])
      i += 1
    end
    pairs = merge_sort(pairs) { |x, y| cmp_int(__ary_at(x, 0) <=> __ary_at(y, 0), __ary_at(x, 0), __ary_at(y, 0)) }
    i = 0
    while i < __ary_len(pairs)
      __ary_set(pairs, i, __ary_at(__ary_at(pairs, i), 1))
      i += 1
    end
    pairs
  end

  def self.count_arg(n)
    n = to_long(n)
    raise ArgumentError, "negative size (#{n})" if n < 0
    n
  end

  def self.least(a, n, &)
    n = count_arg(n)
    sorted = ordered(a, &)
    n < __ary_len(sorted) ? __ary_truncate(sorted, n) : sorted
  end

  def self.most(a, n, &)
    n = count_arg(n)
    sorted = ordered(a, &).reverse!
    n < __ary_len(sorted) ? __ary_truncate(sorted, n) : sorted
  end

  # A sorted copy.
  def self.ordered(a, &)
    copy = __ary_copy(a)
    return merge_sort(copy, &) if block_given?
    r = __ary_sort(copy)
    __undef?(r) ? merge_sort(copy) { |x, y| x <=> y } : r
  end
end
