# Array: iteration. The loops read the length at every step, because a block may
# change the array it is iterating over.
class Array
  include Enumerable

  alias append push
  alias prepend unshift
  alias length size

  def initialize(size = __undef, fill = __undef)
    __check_frozen(self)
    if __undef?(size)
      warn("given block not used", uplevel: 0) if block_given?
      __ary_truncate(self, 0)
      return self
    end
    if __undef?(fill) && !__is_a(size, Integer)
      list = KumiSys.try_ary(size)
      return replace(list) if list
    end
    n = KumiSys.to_long(size)
    raise ArgumentError, "negative array size" if n < 0
    raise ArgumentError, "array size too big" if n > 1152921504606846975
    if block_given?
      warn("block supersedes default value argument", uplevel: 0) unless __undef?(fill)
      __ary_truncate(self, 0)
      i = 0
      while i < n
        v = yield i
        __ary_push(self, v)
        i += 1
      end
    else
      __ary_become(self, __ary_filled(n, __undef?(fill) ? nil : fill))
    end
    self
  end

  def each
    return KumiSys.enum(self, :each, :size) unless block_given?
    i = 0
    until __undef?(item = __ary_item(self, i))
      yield item
      i += 1
    end
    self
  end

  def each_index
    return KumiSys.enum(self, :each_index, :size) unless block_given?
    i = 0
    while i < __ary_len(self)
      yield i
      i += 1
    end
    self
  end

  def reverse_each
    return KumiSys.enum(self, :reverse_each, :size) unless block_given?
    i = __ary_len(self) - 1
    while i >= 0
      item = __ary_item(self, i)
      yield item unless __undef?(item)
      n = __ary_len(self)
      i = n if i > n
      i -= 1
    end
    self
  end

  def map
    return KumiSys.enum(self, __called, :size) unless block_given?
    out = __ary_new(__ary_len(self))
    i = 0
    until __undef?(item = __ary_item(self, i))
      v = yield item
      __ary_push(out, v)
      i += 1
    end
    out
  end
  alias collect map

  def select
    return KumiSys.enum(self, __called, :size) unless block_given?
    out = __ary_new
    i = 0
    until __undef?(v = __ary_item(self, i))
      __ary_push(out, v) if yield v
      i += 1
    end
    out
  end
  alias filter select

  def reject
    return KumiSys.enum(self, :reject, :size) unless block_given?
    out = __ary_new
    i = 0
    until __undef?(v = __ary_item(self, i))
      __ary_push(out, v) unless yield v
      i += 1
    end
    out
  end

  def cycle(n = nil)
    unless block_given?
      return KumiSys.enum(self, :cycle, :cycles, __same(n, nil) ? nil : [n])
    end
    if __same(n, nil)
      while __ary_len(self) > 0
        i = 0
        until __undef?(item = __ary_item(self, i))
          yield item
          i += 1
        end
      end
    else
      n = KumiSys.to_long(n)
      while n > 0 && __ary_len(self) > 0
        i = 0
        until __undef?(item = __ary_item(self, i))
          yield item
          i += 1
        end
        n -= 1
      end
    end
    nil
  end

  # --- searching -------------------------------------------------------------

  def find_index(v = __undef)
    unless __undef?(v)
      warn("given block not used", uplevel: 0) if block_given?
      r = __ary_index(self, v)
      return r unless __undef?(r)
      i = 0
      until __undef?(e = __ary_item(self, i))
        return i if __same(e, v) || e == v
        i += 1
      end
      return nil
    end
    return KumiSys.enum(self, __called, nil) unless block_given?
    i = 0
    until __undef?(item = __ary_item(self, i))
      return i if yield item
      i += 1
    end
    nil
  end
  alias index find_index

  def rindex(v = __undef)
    unless __undef?(v)
      warn("given block not used", uplevel: 0) if block_given?
      r = __ary_rindex(self, v)
      return r unless __undef?(r)
      i = __ary_len(self) - 1
      while i >= 0
        e = __ary_at(self, i)
        return i if __same(e, v) || e == v
        n = __ary_len(self)
        i = n if i > n
        i -= 1
      end
      return nil
    end
    return KumiSys.enum(self, :rindex, nil) unless block_given?
    i = __ary_len(self) - 1
    while i >= 0
      return i if yield __ary_at(self, i)
      n = __ary_len(self)
      i = n if i > n
      i -= 1
    end
    nil
  end

  def find(none = nil)
    return KumiSys.enum(self, __called, nil, __same(none, nil) ? nil : [none]) unless block_given?
    i = 0
    until __undef?(v = __ary_item(self, i))
      return v if yield v
      i += 1
    end
    none.call unless __same(none, nil)
  end
  alias detect find

  def rfind(none = nil)
    return KumiSys.enum(self, :rfind, nil, __same(none, nil) ? nil : [none]) unless block_given?
    i = __ary_len(self) - 1
    while i >= 0
      v = __ary_at(self, i)
      return v if yield v
      n = __ary_len(self)
      i = n if i > n
      i -= 1
    end
    none.call unless __same(none, nil)
  end

  def include?(v)
    i = 0
    until __undef?(e = __ary_item(self, i))
      return true if __same(e, v) || e == v
      i += 1
    end
    false
  end

  def count(v = __undef)
    unless __undef?(v)
      warn("given block not used", uplevel: 0) if block_given?
      r = __ary_count(self, v)
      return r unless __undef?(r)
      c = i = 0
      until __undef?(e = __ary_item(self, i))
        c += 1 if __same(e, v) || e == v
        i += 1
      end
      return c
    end
    return __ary_len(self) unless block_given?
    c = i = 0
    until __undef?(item = __ary_item(self, i))
      c += 1 if yield item
      i += 1
    end
    c
  end

  def any?(pattern = __undef, &) = KumiSys.array_any?(self, pattern, true, &)
  def all?(pattern = __undef, &) = !KumiSys.array_any?(self, pattern, false, &)
  def none?(pattern = __undef, &) = !KumiSys.array_any?(self, pattern, true, &)

  def one?(pattern = __undef)
    found = false
    i = 0
    given = block_given?
    warn("given block not used", uplevel: 0) if given && !__undef?(pattern)
    until __undef?(v = __ary_item(self, i))
      hit = if !__undef?(pattern) then pattern === v
            elsif given then yield v
            else v
            end
      if hit
        return false if found
        found = true
      end
      i += 1
    end
    found
  end

  def take_while
    return KumiSys.enum(self, :take_while, nil) unless block_given?
    i = 0
    until __undef?(item = __ary_item(self, i))
      break unless yield item
      i += 1
    end
    take(i)
  end

  def drop_while
    return KumiSys.enum(self, :drop_while, nil) unless block_given?
    i = 0
    until __undef?(item = __ary_item(self, i))
      break unless yield item
      i += 1
    end
    drop(i)
  end

  # --- reading ---------------------------------------------------------------

  def [](i, n = __undef)
    return self[i, n] unless __undef?(n)
    return KumiSys.arith_slice(self, i) if __is_a(i, Enumerator::ArithmeticSequence)
    self[__is_a(i, Range) ? KumiSys.index_range(i) : KumiSys.to_long(i)]
  end
  alias slice []

  def values_at(*at)
    self.values_at(*at.map { |i| __is_a(i, Range) ? KumiSys.index_range(i) : KumiSys.to_long(i) })
  end

  def fetch(i, default = __undef)
    warn("block supersedes default value argument", uplevel: 0) if block_given? && !__undef?(default)
    at = __is_a(i, Integer) ? i : KumiSys.to_long(i)
    n = __ary_len(self)
    k = at < 0 ? at + n : at
    return __ary_at(self, k) if k >= 0 && k < n
    KumiSys.check_long(at)
    return yield(i) if block_given?
    return default unless __undef?(default)
    raise IndexError, "index #{at} outside of array bounds: #{-n}...#{n}"
  end

  def fetch_values(*at)
    if block_given?
      at.map { |i| fetch(i) { |k| yield k } }
    else
      at.map { |i| fetch(i) }
    end
  end

  def assoc(key)
    i = 0
    until __undef?(item = __ary_item(self, i))
      a = KumiSys.try_ary(item)
      return a if a && __ary_len(a) > 0 && KumiSys.eq?(__ary_at(a, 0), key)
      i += 1
    end
    nil
  end

  def rassoc(value)
    i = 0
    until __undef?(item = __ary_item(self, i))
      a = KumiSys.try_ary(item)
      return a if a && __ary_len(a) > 1 && KumiSys.eq?(__ary_at(a, 1), value)
      i += 1
    end
    nil
  end

  def to_h
    h = {}
    i = 0
    given = block_given?
    lax = given && !__block_literal ? KumiSys.lax(__block_proc) : nil
    until __undef?(e = __ary_item(self, i))
      if lax
        parts = KumiSys.try_ary(e) || [e]
        parts = [*parts, nil] if __ary_len(parts) == 1 && lax[0] > 1
        e = yield(*KumiSys.fit(lax, parts))
      elsif given
        e = yield e
      end
      pair = KumiSys.try_ary(e)
      unless pair
        raise TypeError, "wrong element type #{__describe_class(e)} at #{i} (expected array)"
      end
      if __ary_len(pair) != 2
        raise ArgumentError, "wrong array length at #{i} (expected 2, was #{__ary_len(pair)})"
      end
      h[__ary_at(pair, 0)] = __ary_at(pair, 1)
      i += 1
    end
    h
  end

  def zip(*others)
    lists = others
    m = __ary_len(lists)
    k = 0
    while k < m
      o = __ary_at(lists, k)
      __ary_set(lists, k, KumiSys.zip_list(o) || KumiSys.take(o, __ary_len(self)))
      k += 1
    end
    out = block_given? ? nil : __ary_new(__ary_len(self))
    # A block of two parameters and more has the values, others have rows.
    several = !out && (__block_literal ? __block_pairs : __is_a(__block_proc, Proc) && __block_proc.arity > 1)
    if several && m == 1
      list = __ary_at(lists, 0)
      i = 0
      until __undef?(item = __ary_item(self, i))
        yield item, __ary_at(list, i)
        i += 1
      end
      return nil
    end
    i = 0
    while i < __ary_len(self)
      row = __ary_new(m + 1)
      __ary_push(row, __ary_at(self, i))
      k = 0
      while k < m
        __ary_push(row, __ary_at(__ary_at(lists, k), i))
        k += 1
      end
      if out
        __ary_push(out, row)
      elsif several
        yield(*row)
      else
        yield row
      end
      i += 1
    end
    out
  end

  def transpose
    map { |row| KumiSys.to_ary(row) }.transpose
  end

  def *(other)
    s = KumiSys.try_str(other)
    s ? join(s) : self * KumiSys.to_long(other)
  end

  def bsearch
    return KumiSys.enum(self, :bsearch, nil) unless block_given?
    i = bsearch_index { |v| yield v }
    i && __ary_at(self, i)
  end

  def bsearch_index
    return KumiSys.enum(self, :bsearch_index, nil) unless block_given?
    low = 0
    high = __ary_len(self)
    found = nil
    while low < high
      mid = low + (high - low) / 2
      r = yield __ary_at(self, mid)
      if __same(r, true)
        found = mid
        high = mid
      elsif __same(r, false) || __same(r, nil)
        low = mid + 1
      elsif __is_a(r, Numeric)
        return mid if r == 0
        r < 0 ? high = mid : low = mid + 1
      else
        raise TypeError, "wrong argument type #{__describe_class(r)} (must be numeric, true, false or nil)"
      end
    end
    found
  end

  def sample(n = __undef, random: Random)
    len = __ary_len(self)
    if __undef?(n)
      return nil if len == 0
      return __ary_at(self, KumiSys.random_index(random, len))
    end
    n = KumiSys.to_long(n)
    raise ArgumentError, "negative sample number" if n < 0
    a = __ary_copy(self)
    n = len if n > len
    i = 0
    while i < n
      __ary_swap(a, i, i + KumiSys.random_index(random, len - i))
      i += 1
    end
    __ary_truncate(a, n)
  end

  def shuffle(random: Random)
    __ary_copy(self).shuffle!(random: random)
  end

  def shuffle!(random: Random)
    __check_frozen(self)
    while true
      picks = __ary_new
      i = __ary_len(self)
      while i > 1
        __ary_push(picks, KumiSys.random_index(random, i))
        i -= 1
      end
      return self if __ary_shuffle(self, picks)
      # Another thread's change is no concern of a generator that runs no code of the user's.
      raise RuntimeError, "modified during shuffle!" unless __same(random, Random) || __is_a(random, Random) && __builtin(random, :rand)
    end
  end

  # --- text ------------------------------------------------------------------

  def inspect
    return "[]" if __ary_len(self) == 0
    s = KumiSys.recursing(:inspect, self) do
      out = "["
      i = 0
      while i < __ary_len(self)
        out << ", " if i > 0
        out << KumiSys.inspect(__ary_at(self, i))
        i += 1
      end
      out << "]"
    end
    s || "[...]"
  end
  alias to_s inspect

  def join(separator = nil)
    if __same(separator, nil)
      separator = $,
      warn("$, is set to non-nil value", uplevel: 0, category: :deprecated) if separator
    elsif __ary_len(self) > 0
      separator = KumiSys.to_str(separator)
    end
    first = __ary_at(self, 0)
    out = String.new("", encoding: __is_a(first, String) ? first.encoding : Encoding::US_ASCII)
    KumiSys.join_into(out, self, separator, true)
    out
  end
end

module KumiSys
  # Is there an element of which the pattern, or the block, or else the element itself is as `wanted` (true or false)?
  def self.array_any?(a, pattern, wanted)
    i = 0
    plain = __undef?(pattern)
    if plain && block_given?
      if wanted
        until __undef?(item = __ary_item(a, i))
          return true if yield item
          i += 1
        end
      else
        until __undef?(item = __ary_item(a, i))
          return true unless yield item
          i += 1
        end
      end
    else
      warn("given block not used", uplevel: 0) if block_given?
      until __undef?(item = __ary_item(a, i))
        return true if (plain ? item : pattern === item) ? wanted : !wanted
        i += 1
      end
    end
    false
  end

  # a.equal?(b) || a == b
  def self.eq?(a, b)
    __same(a, b) || a == b
  end

  def self.cycle_size(size, n)
    return nil if __same(size, nil)
    return 0 if size == 0
    return Float::INFINITY if __same(n, nil)
    n = to_long(n)
    n = 0 if n < 0
    size * n
  end

  # The range with its ends converted to integers, nil left alone.
  def self.index_range(r)
    lo = __range_lo(r)
    hi = __range_hi(r)
    lo = to_long(lo) unless __same(lo, nil)
    hi = to_long(hi) unless __same(hi, nil)
    check_long(lo) unless __same(lo, nil)
    check_long(hi) unless __same(hi, nil)
    __range_new(Range, lo, hi, __range_excl(r))
  end

  def self.check_long(i)
    return i if i >= -0x8000000000000000 && i <= 0x7fffffffffffffff
    raise RangeError, "bignum too big to convert into 'long'"
  end

  # a[arithmetic sequence]: the part of the array that its ends mean, every step-th element.
  def self.arith_slice(a, seq)
    lo = seq.begin
    hi = seq.end
    excl = seq.exclude_end?
    len = __ary_len(a)
    step = to_long(seq.step)
    if step < 0
      if excl && !__same(hi, nil)
        hi = to_long(hi) + 1
        excl = false
      end
      lo, hi = hi, lo
    end
    strict = step < -1 || step > 1
    from = __same(lo, nil) ? 0 : to_long(lo)
    to = __same(hi, nil) ? -1 : to_long(hi)
    excl = false if __same(hi, nil)
    from += len if from < 0
    to += len if to < 0
    to += 1 unless excl
    if strict && (from < 0 || from > len || to - from > len)
      raise RangeError, "#{seq.inspect} out of range"
    end
    return nil if from < 0 || from > len
    to = len if to > len
    return [] if to <= from
    raise ArgumentError, "slice step cannot be zero" if step == 0
    out = __ary_new
    if step < 0
      i = to - 1
      while i >= from
        __ary_push(out, __ary_at(a, i))
        i += step
      end
    else
      i = from
      while i < to
        __ary_push(out, __ary_at(a, i))
        i += step
      end
    end
    out
  end

  # A random index below n, as Array#shuffle asks a generator for it.
  def self.random_index(random, n)
    return Random.rand(n) if __same(random, Random)
    i = to_int(random.rand(n))
    raise RangeError, "random number too small #{i}" if i < 0
    raise RangeError, "random number too big #{i}" if i >= n
    i
  end

  # Appends the elements of a, nested arrays included, to out.
  def self.join_into(out, a, separator, first)
    done = recursing(:join, a) do
      i = 0
      while i < __ary_len(a)
        e = __ary_at(a, i)
        out << separator if separator && (i > 0)
        if __is_a(e, String)
          out << e
        elsif __is_a(e, Array)
          join_into(out, e, separator, false)
        elsif (s = try_str(e))
          out << s
        elsif (l = try_ary(e))
          join_into(out, l, separator, false)
        else
          out << to_s(e)
        end
        i += 1
      end
      true
    end
    raise ArgumentError, "recursive array join" unless done
  end

  # The sum of a from v on: exact numbers first, then floats with Kahan-Babuska
  # compensation, then whatever + says.
  def self.sum(a, v)
    n = __ary_len(a)
    i = 0
    if __is_a(v, Integer) || __is_a(v, Rational)
      while i < n
        e = __ary_at(a, i)
        break unless __is_a(e, Integer) || __is_a(e, Rational)
        v += e
        i += 1
      end
    end
    if i < n && (__is_a(v, Float) || ((__is_a(v, Integer) || __is_a(v, Rational)) && __is_a(__ary_at(a, i), Float)))
      rest = __ary_new(n - i)
      while i < n
        e = __ary_at(a, i)
        break unless __is_a(e, Float) || __is_a(e, Integer) || __is_a(e, Rational)
        __ary_push(rest, __is_a(e, Rational) ? e.to_f : e)
        i += 1
      end
      if i == n
        r = __ary_sum(rest, v.to_f)
        return r unless __undef?(r)
      end
      k = 0
      v = v.to_f
      while k < __ary_len(rest)
        v += __ary_at(rest, k)
        k += 1
      end
    end
    while i < n
      v += __ary_at(a, i)
      i += 1
    end
    v
  end
end
