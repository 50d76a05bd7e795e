# Array: combinations, permutations and products. They work on a copy, so that a
# block may change the array.
class Array
  def combination(k)
    k = KumiSys.to_long(k)
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
    yield __ary_pick(pool, at, k)
    yield __ary_pick(pool, at, k) while __comb_step(at, n, false)
    self
  end

  def repeated_combination(k)
    k = KumiSys.to_long(k)
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
    yield __ary_pick(pool, at, k)
    yield __ary_pick(pool, at, k) while __comb_step(at, n, true)
    self
  end

  def permutation(k = nil)
    unless block_given?
      return to_enum(:permutation, *(k ? [k] : [])) { KumiSys.falling(size, k ? KumiSys.to_long(k) : size) }
    end
    k = KumiSys.to_long(k) unless __same(k, nil)
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
    turns = __ary_new(k)
    i = 0
    while i < k
      __ary_push(turns, n - i)
      i += 1
    end
    yield __ary_pick(pool, at, k)
    yield __ary_pick(pool, at, k) while __perm_step(at, turns)
    self
  end

  def repeated_permutation(k)
    k = KumiSys.to_long(k)
    return to_enum(:repeated_permutation, k) { k < 0 ? 0 : size**k } unless block_given?
    n = __ary_len(self)
    return self if k < 0 || (n == 0 && k > 0)
    pool = __ary_copy(self)
    at = __ary_filled(k, 0)
    sizes = __ary_filled(k, n)
    yield __ary_pick(pool, at, k)
    yield __ary_pick(pool, at, k) while __odo_step(at, sizes)
    self
  end

  def product(*others)
    m = __ary_len(others) + 1
    lists = __ary_new(m)
    sizes = __ary_new(m)
    total = 1
    i = 0
    while i < m
      l = __ary_copy(i == 0 ? self : KumiSys.to_ary(__ary_at(others, i - 1)))
      __ary_push(lists, l)
      __ary_push(sizes, __ary_len(l))
      total *= __ary_len(l)
      i += 1
    end
    given = block_given?
    if !given && total > 0x7fffffff
      raise RangeError, "too big to product"
    end
    out = given ? self : __ary_new(total)
    return out if total == 0
    at = __ary_filled(m, 0)
    more = true
    while more
      row = __ary_row(lists, at)
      given ? yield(row) : __ary_push(out, row)
      more = __odo_step(at, sizes)
    end
    out
  end
end

module KumiSys
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
