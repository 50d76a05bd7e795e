# Array: combinations, permutations and products. They work on a copy, so that a
# block may change the array.
class Array
  def combination(k)
    k = KumiSys.to_int(k)
    return to_enum(:combination, k) { KumiSys.binomial(size, k) } unless block_given?
    n = __ary_len(self)
    return self if k < 0 || k > n
    pool = __ary_copy(self)
    at = __ary_new(k)
    i = 0
    while i < k
      __ary_push(at, i)
      i += 1
    end
    while true
      yield KumiSys.pick(pool, at)
      i = k - 1
      i -= 1 while i >= 0 && __ary_at(at, i) == n - k + i
      break if i < 0
      v = __ary_at(at, i) + 1
      while i < k
        __ary_set(at, i, v)
        v += 1
        i += 1
      end
    end
    self
  end

  def repeated_combination(k)
    k = KumiSys.to_int(k)
    unless block_given?
      return to_enum(:repeated_combination, k) do
        if k < 0 then 0
        elsif k == 0 then 1
        else KumiSys.binomial(size + k - 1, k)
        end
      end
    end
    n = __ary_len(self)
    return self if k < 0 || (n == 0 && k > 0)
    pool = __ary_copy(self)
    at = __ary_filled(k, 0)
    while true
      yield KumiSys.pick(pool, at)
      i = k - 1
      i -= 1 while i >= 0 && __ary_at(at, i) == n - 1
      break if i < 0
      v = __ary_at(at, i) + 1
      while i < k
        __ary_set(at, i, v)
        i += 1
      end
    end
    self
  end

  def permutation(k = nil)
    k = KumiSys.to_int(k) unless __same(k, nil)
    unless block_given?
      return to_enum(:permutation, *(k ? [k] : [])) { KumiSys.falling(size, k || size) }
    end
    n = __ary_len(self)
    k = n if __same(k, nil)
    return self if k < 0 || k > n
    pool = __ary_copy(self)
    at = __ary_new(n)
    i = 0
    while i < n
      __ary_push(at, i)
      i += 1
    end
    # Lexicographic order of the first k of n positions: `turns` counts down how
    # many choices are left at each place.
    turns = __ary_new(k)
    i = 0
    while i < k
      __ary_push(turns, n - i)
      i += 1
    end
    yield KumiSys.pick(pool, at, k)
    i = k - 1
    while i >= 0
      t = __ary_at(turns, i) - 1
      if t == 0
        # This place has had them all: its element goes back to the end.
        v = __ary_at(at, i)
        __ary_splice(at, i, 1, [])
        __ary_push(at, v)
        __ary_set(turns, i, n - i)
        i -= 1
      else
        __ary_set(turns, i, t)
        __ary_swap(at, i, n - t)
        yield KumiSys.pick(pool, at, k)
        i = k - 1
      end
    end
    self
  end

  def repeated_permutation(k)
    k = KumiSys.to_int(k)
    return to_enum(:repeated_permutation, k) { k < 0 ? 0 : size**k } unless block_given?
    n = __ary_len(self)
    return self if k < 0 || (n == 0 && k > 0)
    pool = __ary_copy(self)
    at = __ary_filled(k, 0)
    while true
      yield KumiSys.pick(pool, at)
      i = k - 1
      while i >= 0 && __ary_at(at, i) == n - 1
        __ary_set(at, i, 0)
        i -= 1
      end
      break if i < 0
      __ary_set(at, i, __ary_at(at, i) + 1)
    end
    self
  end

  def product(*others)
    lists = [__ary_copy(self)]
    others.each { |o| lists << __ary_copy(KumiSys.to_ary(o)) }
    m = __ary_len(lists)
    total = 1
    lists.each { |l| total *= __ary_len(l) }
    given = block_given?
    if !given && total > 0x7fffffff
      raise RangeError, "too big to product"
    end
    out = given ? self : __ary_new(total)
    return out if total == 0
    at = __ary_filled(m, 0)
    while true
      row = __ary_new(m)
      i = 0
      while i < m
        __ary_push(row, __ary_at(__ary_at(lists, i), __ary_at(at, i)))
        i += 1
      end
      given ? yield(row) : __ary_push(out, row)
      i = m - 1
      while i >= 0 && __ary_at(at, i) == __ary_len(__ary_at(lists, i)) - 1
        __ary_set(at, i, 0)
        i -= 1
      end
      break if i < 0
      __ary_set(at, i, __ary_at(at, i) + 1)
    end
    out
  end
end

module KumiSys
  # The elements of pool at the first n positions of at.
  def self.pick(pool, at, n = __ary_len(at))
    out = __ary_new(n)
    i = 0
    while i < n
      __ary_push(out, __ary_at(pool, __ary_at(at, i)))
      i += 1
    end
    out
  end

  # n over k
  def self.binomial(n, k)
    return 0 if k < 0 || k > n
    k = n - k if k > n - k
    r = 1
    i = 1
    while i <= k
      r = r * (n - k + i) / i
      i += 1
    end
    r
  end

  # n (n-1) ... of k factors
  def self.falling(n, k)
    return 0 if k < 0 || k > n
    r = 1
    while k > 0
      r *= n
      n -= 1
      k -= 1
    end
    r
  end
end
