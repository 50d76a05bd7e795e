# Enumerable: what all elements together come to, and their order. A fold keeps one element at a time; order is that of <=>, or of a block.
module Enumerable
  def inject(init = __undef, op = __undef)
    if !__undef?(op)
      op = KumiSys.to_name(op)
      warn("given block not used", uplevel: 0) if block_given?
    elsif !block_given?
      KumiSys.arity_error(0, 1, 2) if __undef?(init)
      op = KumiSys.to_name(init)
      init = __undef
    end
    if __ary_plain(self)
      unless __undef?(op)
        r = __ary_fold(self, init, op)
        return r unless __undef?(r)
      end
      i = 0
      acc = init
      if __undef?(acc)
        return nil if __ary_len(self) == 0
        acc = __ary_at(self, 0)
        i = 1
      end
      if __undef?(op)
        until __undef?(item = __ary_item(self, i))
          acc = yield acc, item
          i += 1
        end
      else
        until __undef?(item = __ary_item(self, i))
          acc = acc.__send__(op, item)
          i += 1
        end
      end
      return acc
    end
    acc = init
    if KumiSys.single?(self)
      if __undef?(op)
        each { |v| acc = __undef?(acc) ? v : yield(acc, v) }
      else
        each { |v| acc = __undef?(acc) ? v : acc.__send__(op, v) }
      end
    elsif __undef?(op)
      each do |*a|
        v = __pack(a)
        acc = __undef?(acc) ? v : yield(acc, v)
      end
    else
      each do |*a|
        v = __pack(a)
        acc = __undef?(acc) ? v : acc.__send__(op, v)
      end
    end
    __undef?(acc) ? nil : acc
  end
  alias reduce inject

  # Integers are added up as they come; the first other value makes a list of the sum so far and what follows.
  def sum(init = 0)
    acc = __is_a(init, Integer) && __builtin(init, :+) ? init : [init]
    single = KumiSys.single?(self)
    if !block_given?
      if single
        each { |v| acc = __sum_step(acc, v) }
      else
        each { |*a| acc = __sum_step(acc, __pack(a)) }
      end
    elsif __is_a(self, Hash) && __block_pairs
      each do |k, x|
        v = yield k, x
        acc = __sum_step(acc, v)
      end
    elsif single
      each do |x|
        v = yield x
        acc = __sum_step(acc, v)
      end
    else
      each do |*a|
        v = yield __pack(a)
        acc = __sum_step(acc, v)
      end
    end
    return acc unless __is_a(acc, Array)
    r = __ary_sum(acc, __undef)
    return r unless __undef?(r)
    KumiSys.sum(__ary_part(acc, 1, __ary_len(acc)), __ary_at(acc, 0))
  end

  def count(x = __undef)
    n = 0
    if !__undef?(x)
      warn("given block not used", uplevel: 0) if block_given?
      each do |*a|
        v = __pack(a)
        n += 1 if __same(v, x) || v == x
      end
    elsif block_given?
      if KumiSys.single?(self)
        each { |v| n += 1 if yield v }
      else
        each { |*a| n += 1 if yield(*a) }
      end
    else
      each { n += 1 }
    end
    n
  end

  def tally(h = __undef)
    if __undef?(h)
      h = {}
      if __ary_plain(self)
        t = __ary_tally(self)
        return t if t
        i = 0
        until __undef?(v = __ary_item(self, i))
          n = h[v]
          h[v] = n ? n + 1 : 1
          i += 1
        end
        return h
      end
    else
      h = KumiSys.to_hash(h)
      __check_frozen(h)
    end
    each do |*a|
      v = __pack(a)
      n = h.fetch(v, 0)
      raise TypeError, "wrong argument type #{__describe_class(n)} (expected Integer)" unless __is_a(n, Integer)
      h[v] = n + 1
    end
    h
  end

  def sort
    list = KumiSys.list(self)
    block_given? ? list.sort { |a, b| yield a, b } : list.sort
  end

  def sort_by
    return KumiSys.enum(self, :sort_by, :size_of) unless block_given?
    keys = __ary_new
    values = __ary_new
    lax = __block_literal ? nil : KumiSys.lax(__block_proc)
    each do |*a|
      k = (lax || __ary_len(a) == 0 ? yield(*KumiSys.fit(lax, __rest(a))) : yield(__pack(a)))
      __ary_push(keys, k)
      __ary_push(values, __pack(a))
    end
    KumiSys.sort_by_keys(keys, values)
  end

  def min(n = nil, &)
    list = KumiSys.list(self)
    return KumiSys.list_min(list) if __same(n, nil) && !block_given? && __ary_len(list) > 0
    list.min(n, &)
  end

  def max(n = nil, &)
    list = KumiSys.list(self)
    return KumiSys.list_max(list) if __same(n, nil) && !block_given? && __ary_len(list) > 0
    list.max(n, &)
  end

  def minmax(&)
    KumiSys.list(self).minmax(&)
  end

  def min_by(n = nil, &)
    return KumiSys.enum(self, :min_by, :size_of, __same(n, nil) ? nil : [n]) unless block_given?
    return sort_by(&).first(KumiSys.count_arg(n)) unless __same(n, nil)
    KumiSys.extreme_by(self, -1, &)
  end

  def max_by(n = nil, &)
    return KumiSys.enum(self, :max_by, :size_of, __same(n, nil) ? nil : [n]) unless block_given?
    return sort_by(&).reverse.first(KumiSys.count_arg(n)) unless __same(n, nil)
    KumiSys.extreme_by(self, 1, &)
  end

  def minmax_by
    return KumiSys.enum(self, :minmax_by, :size_of) unless block_given?
    low = high = least = most = nil
    found = false
    lax = __block_literal ? nil : KumiSys.lax(__block_proc)
    each do |*a|
      k = (lax || __ary_len(a) == 0 ? yield(*KumiSys.fit(lax, __rest(a))) : yield(__pack(a)))
      v = __pack(a)
      if !found || KumiSys.cmp_int(k <=> least, k, least) < 0
        low = v
        least = k
      end
      if !found || KumiSys.cmp_int(k <=> most, k, most) > 0
        high = v
        most = k
      end
      found = true
    end
    [low, high]
  end
end

module KumiSys
  # The index of the first key that is least (`sign` -1) or greatest (1).
  def self.extreme_at(keys, sign)
    at = 0
    i = 1
    while i < __ary_len(keys)
      k = __ary_at(keys, i)
      at = i if cmp_int(k <=> __ary_at(keys, at), k, __ary_at(keys, at)) == sign
      i += 1
    end
    at
  end

  # The first element whose key, what the block makes of it, is least (`sign` -1) or greatest (1). Keeps one element at a time,
  # but all keys of an Array.
  def self.extreme_by(obj, sign)
    best = nil
    extreme = __undef
    if __ary_plain(obj)
      return nil if __ary_len(obj) == 0
      keys = __ary_new(__ary_len(obj))
      # What was there then is the answer, whatever the block does to the array.
      items = __ary_new(__ary_len(obj))
      i = 0
      until __undef?(item = __ary_item(obj, i))
        k = yield item
        __ary_push(keys, k)
        __ary_push(items, item)
        i += 1
      end
      at = sign < 0 ? __ary_min_at(keys) : __ary_max_at(keys)
      return __ary_at(items, __undef?(at) ? extreme_at(keys, sign) : at)
    end
    if single?(obj) && (__block_literal || !__is_a(obj, Hash))
      obj.__send__(:each) do |v|
        k = yield v
        if __undef?(extreme) || cmp_int(k <=> extreme, k, extreme) == sign
          best = v
          extreme = k
        end
      end
    else
      lax = __block_literal ? nil : lax(__block_proc)
      obj.__send__(:each) do |*a|
        k = (lax || __ary_len(a) == 0 ? yield(*fit(lax, __rest(a))) : yield(__pack(a)))
        if __undef?(extreme) || cmp_int(k <=> extreme, k, extreme) == sign
          best = __pack(a)
          extreme = k
        end
      end
    end
    best
  end
end
