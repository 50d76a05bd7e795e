# Array: changing in place, where a block or a conversion takes part. A block may
# leave with an exception or break: what it has decided so far is then kept.
class Array
  def []=(i, n, v = __undef)
    if __undef?(v)
      v = n
      i = KumiSys.index_range(i) if __is_a(i, Range)
      list = __is_a(i, Range) ? (KumiSys.try_ary(v) || [v]) : v
      self[i] = list
    else
      i = KumiSys.to_long(i)
      n = KumiSys.to_long(n)
      self[i, n] = KumiSys.try_ary(v) || [v]
    end
    v
  end

  def slice!(i, n = __undef)
    __check_frozen(self)
    return slice!(i, n) unless __undef?(n)
    slice!(__is_a(i, Range) ? KumiSys.index_range(i) : KumiSys.to_long(i))
  end

  def map!
    return KumiSys.enum(self, __called, :size) unless block_given?
    __check_frozen(self)
    i = 0
    until __undef?(item = __ary_item(self, i))
      v = yield item
      __check_frozen(self)
      # Beyond the end, which the block may have moved, there is no element to replace.
      i < __ary_len(self) ? __ary_set(self, i, v) : self[i] = v
      i += 1
    end
    self
  end
  alias collect! map!

  def select!
    return KumiSys.enum(self, __called, :size) unless block_given?
    __check_frozen(self)
    KumiSys.sift(self) { |v| yield v } ? self : nil
  end
  alias filter! select!

  def keep_if
    return KumiSys.enum(self, :keep_if, :size) unless block_given?
    __check_frozen(self)
    KumiSys.sift(self) { |v| yield v }
    self
  end

  def reject!
    return KumiSys.enum(self, :reject!, :size) unless block_given?
    __check_frozen(self)
    KumiSys.sift(self) { |v| !(yield v) } ? self : nil
  end

  def delete_if
    return KumiSys.enum(self, :delete_if, :size) unless block_given?
    __check_frozen(self)
    KumiSys.sift(self) { |v| !(yield v) }
    self
  end

  def delete(v)
    r = __ary_delete(self, v)
    if __undef?(r)
      r = nil
      kept = __ary_new
      i = 0
      until __undef?(e = __ary_item(self, i))
        if __same(e, v) || e == v
          r = [e]
        else
          __ary_push(kept, e)
        end
        i += 1
      end
      if r
        __check_frozen(self)
        __ary_become(self, kept)
      end
    end
    return __ary_at(r, 0) if r
    yield v if block_given?
  end

  def fill(*args)
    __check_frozen(self)
    given = block_given?
    if given
      KumiSys.arity_error(__ary_len(args), 0, 2) if __ary_len(args) > 2
    else
      KumiSys.arity_error(__ary_len(args), 1, 3) if __ary_len(args) < 1 || __ary_len(args) > 3
      v = args.shift
    end
    start = args[0]
    n = args[1]
    len = __ary_len(self)
    if __is_a(start, Range) && __ary_len(args) == 1
      r = KumiSys.index_range(start)
      lo = __range_lo(r) || 0
      hi = __same(__range_hi(r), nil) ? -1 : __range_hi(r)
      from = lo < 0 ? lo + len : lo
      raise RangeError, "#{start.inspect} out of range" if from < 0
      to = hi < 0 ? hi + len : hi
      to += 1 unless __range_excl(r) && !__same(__range_hi(r), nil)
    else
      from = __same(start, nil) ? 0 : KumiSys.to_long(start)
      from += len if from < 0
      from = 0 if from < 0
      if __same(n, nil)
        to = len
      else
        n = KumiSys.to_long(n)
        return self if n <= 0
        to = from + n
      end
    end
    return self if to <= from
    raise ArgumentError, "argument too big" if to > 1152921504606846975
    if given
      i = from
      while i < to
        v = yield i
        # The block may have taken elements away.
        break if i >= len && i > __ary_len(self) || i < len && i >= __ary_len(self)
        i < __ary_len(self) ? __ary_set(self, i, v) : self[i] = v
        i += 1
      end
      self
    else
      __ary_fill(self, v, from, to - from)
    end
  end

  def uniq
    if block_given? && __ary_len(self) > 1
      seen = {}
      out = __ary_new
      i = 0
      until __undef?(v = __ary_item(self, i))
        k = yield v
        unless seen.key?(k)
          seen[k] = true
          __ary_push(out, v)
        end
        i += 1
      end
      return out
    end
    r = __ary_uniq(self)
    return r unless __undef?(r)
    KumiSys.distinct([self])
  end

  # Without a block the native did not see to it, perhaps because of an element that is gone by now: what needs no Ruby to compare is
  # one step here too, for the copy that was looked at must still be what stands there.
  def uniq!
    __check_frozen(self)
    if block_given?
      r = uniq { |v| yield v }
    else
      while true
        was = __ary_copy(self)
        r = __ary_uniq(was)
        break r = KumiSys.distinct([was]) if __undef?(r)
        next unless __ary_replace_if(self, was, r)
        return __ary_len(r) == __ary_len(was) ? nil : self
      end
    end
    return nil if __ary_len(r) == __ary_len(self)
    __check_frozen(self)
    __ary_become(self, r)
  end

  def sort!(&)
    __check_frozen(self)
    if block_given?
      r = sort(&)
    else
      while true
        was = __ary_copy(self)
        r = __ary_sort(was)
        break r = KumiSys.merge_sort(was) { |x, y| x <=> y } if __undef?(r)
        return self if __ary_replace_if(self, was, r)
      end
    end
    raise FrozenError.new("array frozen during sort", receiver: self) if frozen?
    __ary_become(self, r)
  end

  def sort_by!(&)
    return KumiSys.enum(self, :sort_by!, :size) unless block_given?
    __check_frozen(self)
    r = sort_by(&)
    __check_frozen(self)
    __ary_become(self, r)
  end

  def flatten(depth = nil)
    depth = __same(depth, nil) ? -1 : KumiSys.to_cint(depth)
    out = __ary_new
    KumiSys.flatten_into(out, self, depth)
    out
  end

  def flatten!(depth = nil)
    __check_frozen(self)
    depth = __same(depth, nil) ? -1 : KumiSys.to_cint(depth)
    out = __ary_new
    return nil unless KumiSys.flatten_into(out, self, depth)
    __ary_become(self, out)
  end
end

module KumiSys
  # Keeps the elements for which the block is true. Elements decided on are moved
  # to the front at once; when the block leaves early, the gap is closed. Whether any went.
  def self.sift(a)
    i = kept = 0
    begin
      while i < __ary_len(a)
        v = __ary_at(a, i)
        keep = yield v
        if keep
          if kept != i
            __check_frozen(a)
            __ary_set(a, kept, v)
          end
          kept += 1
        end
        i += 1
      end
    ensure
      if kept < i
        __check_frozen(a)
        __ary_move(a, kept, i)
      end
    end
    kept < i
  end

  # Flattens a into out; whether there was anything to flatten. What is open is kept in a list, not on the
  # stack: lists may be nested as deep as memory goes.
  def self.flatten_into(out, a, depth)
    changed = false
    lists = [a]
    places = [0]
    within = {}.compare_by_identity
    __hash_put(within, a, true)
    while (top = __ary_len(lists) - 1) >= 0
      list = __ary_at(lists, top)
      i = __ary_at(places, top)
      if i >= __ary_len(list)
        __hash_put(within, list, false)
        __ary_truncate(lists, top)
        __ary_truncate(places, top)
        next
      end
      __ary_set(places, top, i + 1)
      e = __ary_at(list, i)
      inner = depth >= 0 && top >= depth ? nil : try_ary(e)
      unless inner
        __ary_push(out, e)
        next
      end
      changed = true
      raise ArgumentError, "tried to flatten recursive array" if depth < 0 && __same(__hash_get(within, inner), true)
      __hash_put(within, inner, true)
      __ary_push(lists, inner)
      __ary_push(places, 0)
    end
    changed
  end
end
