# Enumerable: elements that are looked for, and the first ones. The walk ends as soon as the answer is known.
module Enumerable
  def find(none = nil)
    return KumiSys.enum(self, __called, nil, __same(none, nil) ? nil : [none]) unless block_given?
    if KumiSys.single?(self)
      each { |v| return v if yield v }
    else
      lax = __block_literal ? nil : KumiSys.lax(__block_proc)
      each do |*a|
        return __pack(a) if (lax || __ary_len(a) == 0 ? yield(*KumiSys.fit(lax, __rest(a))) : yield(__pack(a)))
      end
    end
    none.call unless __same(none, nil)
  end
  alias detect find

  def find_index(x = __undef)
    i = 0
    if !__undef?(x)
      warn("given block not used", uplevel: 0) if block_given?
      each do |*a|
        v = __pack(a)
        return i if __same(v, x) || v == x
        i += 1
      end
    else
      return KumiSys.enum(self, :find_index, nil) unless block_given?
      each do |*a|
        return i if yield(*a)
        i += 1
      end
    end
    nil
  end

  def first(n = __undef)
    if __undef?(n)
      each { |*a| return __pack(a) }
      return nil
    end
    KumiSys.take(self, n)
  end

  def take(n)
    KumiSys.take(self, n)
  end

  def take_while
    return KumiSys.enum(self, :take_while, nil) unless block_given?
    out = __ary_new
    each do |*a|
      return out unless yield(*a)
      __ary_push(out, __pack(a))
    end
    out
  end

  def drop(n)
    n = KumiSys.to_long(n)
    raise ArgumentError, "attempt to drop negative size" if n < 0
    out = __ary_new
    i = 0
    each do |*a|
      __ary_push(out, __pack(a)) if i >= n
      i += 1
    end
    out
  end

  def drop_while
    return KumiSys.enum(self, :drop_while, nil) unless block_given?
    out = __ary_new
    dropping = true
    lax = __block_literal ? nil : KumiSys.lax(__block_proc)
    each do |*a|
      dropping = false if dropping && !(lax || __ary_len(a) == 0 ? yield(*KumiSys.fit(lax, __rest(a))) : yield(__pack(a)))
      v = __pack(a)
      __ary_push(out, v) unless dropping
    end
    out
  end

  def include?(x)
    each do |*a|
      v = __pack(a)
      return true if __same(v, x) || v == x
    end
    false
  end
  alias member? include?

  def grep(pattern, &) = KumiSys.grep(self, pattern, true, &)
  def grep_v(pattern, &) = KumiSys.grep(self, pattern, false, &)

  def all?(pattern = __undef, &) = !KumiSys.any?(self, pattern, false, &)
  def any?(pattern = __undef, &) = KumiSys.any?(self, pattern, true, &)
  def none?(pattern = __undef, &) = !KumiSys.any?(self, pattern, true, &)

  def one?(pattern = __undef)
    found = false
    given = block_given?
    warn("given block not used", uplevel: 0) if given && !__undef?(pattern)
    each do |*a|
      hit = if !__undef?(pattern) then pattern === __pack(a)
            elsif given then yield(*a)
            else __pack(a)
            end
      if hit
        return false if found
        found = true
      end
    end
    found
  end
end

module KumiSys
  # As array_any?, of what obj.__send__(:each) yields.
  def self.any?(obj, pattern, wanted)
    plain = __undef?(pattern)
    if !plain || !block_given?
      warn("given block not used", uplevel: 0) if block_given?
      obj.__send__(:each) do |*a|
        v = __pack(a)
        return true if (plain ? v : pattern === v) ? wanted : !wanted
      end
    elsif single?(obj)
      wanted ? obj.__send__(:each) { |v| return true if yield v } : obj.__send__(:each) { |v| return true unless yield v }
    else
      obj.__send__(:each) { |*a| return true if yield(*a) ? wanted : !wanted }
    end
    false
  end

  # The elements that the pattern matches, or those that it does not, as the block makes them.
  def self.grep(obj, pattern, wanted)
    out = __ary_new
    given = block_given?
    obj.__send__(:each) do |*a|
      v = __pack(a)
      if (given ? pattern === v : matches?(pattern, v)) ? wanted : !wanted
        v = yield v if given
        __ary_push(out, v)
      end
    end
    out
  end

  # pattern === v, leaving $~ alone.
  def self.matches?(pattern, v)
    return pattern === v unless __is_a(pattern, Regexp) && __builtin(pattern, :===)
    return pattern.match?(v) if __is_a(v, String) || __is_a(v, Symbol)
    v = try_str(v)
    v ? pattern.match?(v) : false
  end

  def self.take(obj, n)
    n = to_long(n)
    raise ArgumentError, "attempt to take negative size" if n < 0
    raise RangeError, "bignum too big to convert into 'long'" if n > 0x7fffffffffffffff
    out = __ary_new
    return out if n == 0
    if single?(obj)
      obj.__send__(:each) do |v|
        __ary_push(out, v)
        n -= 1
        return out if n == 0
      end
      return out
    end
    obj.__send__(:each) do |*a|
      __ary_push(out, __pack(a))
      n -= 1
      return out if n == 0
    end
    out
  end
end
