# Enumerable. What `each` yields at once counts as one element: no value is nil,
# several are an array (__pack). Blocks get what `each` yielded, or that element,
# as each method defines it.
#
# Arrays whose `each` is ours are walked by index in the methods that matter.
module Enumerable
  def to_a(*args, **opts)
    out = __ary_new
    if __ary_len(args) == 0 && opts.empty? && KumiSys.single?(self)
      each do |v|
        __ary_push(out, v)
        nil
      end
    else
      each(*args, **opts) do |*a|
        __ary_push(out, __pack(a))
        nil
      end
    end
    out
  end
  alias entries to_a

  def to_h(*args)
    h = {}
    given = block_given?
    each(*args) do |*a|
      e = given ? yield(*a) : __pack(a)
      pair = KumiSys.try_ary(e)
      raise TypeError, "wrong element type #{__describe_class(e)} (expected array)" unless pair
      n = __ary_len(pair)
      raise ArgumentError, "element has wrong array length (expected 2, was #{n})" if n != 2
      h[__ary_at(pair, 0)] = __ary_at(pair, 1)
    end
    h
  end

  def each_entry(*args)
    return to_enum(:each_entry, *args) { KumiSys.size_of(self) } unless block_given?
    each(*args) { |*a| yield __pack(a) }
    self
  end

  def each_with_index(*args)
    return to_enum(:each_with_index, *args) { KumiSys.size_of(self) } unless block_given?
    i = 0
    if __ary_plain(self) && __ary_len(args) == 0
      until __undef?(item = __ary_item(self, i))
        yield item, i
        i += 1
      end
    elsif __ary_len(args) == 0 && KumiSys.single?(self)
      each do |v|
        k = i
        i += 1
        yield v, k
      end
    else
      each(*args) do |*a|
        k = i
        i += 1
        yield __pack(a), k
      end
    end
    self
  end

  def each_with_object(memo)
    return to_enum(:each_with_object, memo) { KumiSys.size_of(self) } unless block_given?
    if __ary_plain(self)
      i = 0
      until __undef?(item = __ary_item(self, i))
        yield item, memo
        i += 1
      end
    elsif KumiSys.single?(self)
      each { |v| yield v, memo }
    else
      each { |*a| yield __pack(a), memo }
    end
    memo
  end

  def reverse_each(*args)
    return to_enum(:reverse_each, *args) { KumiSys.size_of(self) } unless block_given?
    a = to_a(*args)
    i = __ary_len(a) - 1
    while i >= 0
      yield __ary_at(a, i)
      i -= 1
    end
    self
  end

  def map
    return to_enum(:map) { KumiSys.size_of(self) } unless block_given?
    out = __ary_new
    if KumiSys.single?(self)
      each do |x|
        v = yield x
        __ary_push(out, v)
      end
    elsif (list = KumiSys.indexed(self))
      i = 0
      while i < __ary_len(list)
        v = yield __ary_at(list, i), i
        __ary_push(out, v)
        i += 1
      end
    else
      each do |*a|
        v = yield(*a)
        __ary_push(out, v)
      end
    end
    out
  end
  alias collect map

  def flat_map
    return to_enum(:flat_map) { KumiSys.size_of(self) } unless block_given?
    out = __ary_new
    if __ary_plain(self)
      i = 0
      until __undef?(item = __ary_item(self, i))
        v = yield item
        __is_a(v, Array) ? __ary_cat(out, v) : KumiSys.add_flat(out, v)
        i += 1
      end
    else
      each { |*a| KumiSys.add_flat(out, yield(*a)) }
    end
    out
  end
  alias collect_concat flat_map

  def select
    return to_enum(:select) { KumiSys.size_of(self) } unless block_given?
    out = __ary_new
    if KumiSys.single?(self)
      each { |v| __ary_push(out, v) if yield v }
    else
      each do |*a|
        v = __pack(a)
        __ary_push(out, v) if yield v
      end
    end
    out
  end
  alias find_all select
  alias filter select

  def filter_map
    return to_enum(:filter_map) { KumiSys.size_of(self) } unless block_given?
    out = __ary_new
    if __ary_plain(self)
      i = 0
      until __undef?(item = __ary_item(self, i))
        v = yield item
        __ary_push(out, v) if v
        i += 1
      end
    elsif KumiSys.single?(self)
      each do |x|
        v = yield x
        __ary_push(out, v) if v
      end
    else
      each do |*a|
        v = yield(*a)
        __ary_push(out, v) if v
      end
    end
    out
  end

  def reject
    return to_enum(:reject) { KumiSys.size_of(self) } unless block_given?
    out = __ary_new
    if KumiSys.single?(self)
      each { |v| __ary_push(out, v) unless yield v }
    else
      each do |*a|
        v = __pack(a)
        __ary_push(out, v) unless yield v
      end
    end
    out
  end

  def partition
    return to_enum(:partition) { KumiSys.size_of(self) } unless block_given?
    yes = __ary_new
    no = __ary_new
    if __ary_plain(self)
      i = 0
      until __undef?(v = __ary_item(self, i))
        __ary_push((yield v) ? yes : no, v)
        i += 1
      end
    else
      each do |*a|
        v = __pack(a)
        __ary_push((yield v) ? yes : no, v)
      end
    end
    [yes, no]
  end

  def group_by
    return to_enum(:group_by) { KumiSys.size_of(self) } unless block_given?
    h = {}
    if __ary_plain(self)
      i = 0
      until __undef?(v = __ary_item(self, i))
        k = yield v
        l = h[k]
        l ? __ary_push(l, v) : h[k] = [v]
        i += 1
      end
    else
      each do |*a|
        v = __pack(a)
        k = yield v
        l = h[k]
        l ? __ary_push(l, v) : h[k] = [v]
      end
    end
    h
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

  def uniq
    seen = {}
    out = __ary_new
    given = block_given?
    each do |*a|
      v = __pack(a)
      k = given ? yield(*a) : v
      unless seen.key?(k)
        seen[k] = true
        __ary_push(out, v)
      end
    end
    out
  end

  def compact
    out = __ary_new
    each do |*a|
      v = __pack(a)
      __ary_push(out, v) unless __same(v, nil)
    end
    out
  end

  def zip(*others)
    sources = others.map do |o|
      a = KumiSys.try_ary(o)
      next a if a
      unless o.respond_to?(:each)
        raise TypeError, "wrong argument type #{__describe_class(o)} (must respond to :each)"
      end
      o.to_enum(:each)
    end
    out = block_given? ? nil : __ary_new
    n = 0
    each do |*a|
      row = [__pack(a)]
      k = 0
      while k < __ary_len(sources)
        s = __ary_at(sources, k)
        if __is_a(s, Array)
          __ary_push(row, __ary_at(s, n))
        elsif s
          begin
            __ary_push(row, s.next)
          rescue StopIteration
            __ary_set(sources, k, nil)
            __ary_push(row, nil)
          end
        else
          __ary_push(row, nil)
        end
        k += 1
      end
      n += 1
      out ? __ary_push(out, row) : yield(row)
    end
    out
  end

  # --- folding ---------------------------------------------------------------

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

  def sum(init = 0)
    list = __ary_new
    single = KumiSys.single?(self)
    if block_given?
      if single
        each do |x|
          v = yield x
          __ary_push(list, v)
        end
      else
        each do |*a|
          v = yield(*a)
          __ary_push(list, v)
        end
      end
    elsif single
      each { |v| __ary_push(list, v) }
    else
      each { |*a| __ary_push(list, __pack(a)) }
    end
    r = __ary_sum(list, init)
    return r unless __undef?(r)
    KumiSys.sum(list, init)
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

  # --- searching -------------------------------------------------------------

  def find(none = nil)
    return to_enum(:find, *(__same(none, nil) ? [] : [none])) unless block_given?
    if KumiSys.single?(self)
      each { |v| return v if yield v }
    else
      each do |*a|
        v = __pack(a)
        return v if yield v
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
      return to_enum(:find_index) unless block_given?
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
    return to_enum(:take_while) unless block_given?
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
    return to_enum(:drop_while) unless block_given?
    out = __ary_new
    dropping = true
    each do |*a|
      v = __pack(a)
      dropping = false if dropping && !(yield v)
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

  def grep(pattern)
    out = __ary_new
    given = block_given?
    each do |*a|
      v = __pack(a)
      if given ? pattern === v : KumiSys.matches?(pattern, v)
        v = yield v if given
        __ary_push(out, v)
      end
    end
    out
  end

  def grep_v(pattern)
    out = __ary_new
    given = block_given?
    each do |*a|
      v = __pack(a)
      unless given ? pattern === v : KumiSys.matches?(pattern, v)
        v = yield v if given
        __ary_push(out, v)
      end
    end
    out
  end

  def all?(pattern = __undef)
    if !__undef?(pattern)
      warn("given block not used", uplevel: 0) if block_given?
      each { |*a| return false unless pattern === __pack(a) }
    elsif block_given?
      if KumiSys.single?(self)
        each { |v| return false unless yield v }
      else
        each { |*a| return false unless yield(*a) }
      end
    else
      each { |*a| return false unless __pack(a) }
    end
    true
  end

  def any?(pattern = __undef)
    if !__undef?(pattern)
      warn("given block not used", uplevel: 0) if block_given?
      each { |*a| return true if pattern === __pack(a) }
    elsif block_given?
      if KumiSys.single?(self)
        each { |v| return true if yield v }
      else
        each { |*a| return true if yield(*a) }
      end
    else
      each { |*a| return true if __pack(a) }
    end
    false
  end

  def none?(pattern = __undef)
    if !__undef?(pattern)
      warn("given block not used", uplevel: 0) if block_given?
      each { |*a| return false if pattern === __pack(a) }
    elsif block_given?
      if KumiSys.single?(self)
        each { |v| return false if yield v }
      else
        each { |*a| return false if yield(*a) }
      end
    else
      each { |*a| return false if __pack(a) }
    end
    true
  end

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

  # --- order -----------------------------------------------------------------

  def sort
    block_given? ? to_a.sort { |a, b| yield a, b } : to_a.sort
  end

  def sort_by
    return to_enum(:sort_by) { KumiSys.size_of(self) } unless block_given?
    keys = __ary_new
    values = __ary_new
    each do |*a|
      v = __pack(a)
      k = yield v
      __ary_push(keys, k)
      __ary_push(values, v)
    end
    KumiSys.sort_by_keys(keys, values)
  end

  def min(n = nil)
    block_given? ? KumiSys.list(self).min(n) { |a, b| yield a, b } : KumiSys.list(self).min(n)
  end

  def max(n = nil)
    block_given? ? KumiSys.list(self).max(n) { |a, b| yield a, b } : KumiSys.list(self).max(n)
  end

  def minmax
    block_given? ? KumiSys.list(self).minmax { |a, b| yield a, b } : KumiSys.list(self).minmax
  end

  def min_by(n = nil)
    return to_enum(:min_by, *(__same(n, nil) ? [] : [n])) { KumiSys.size_of(self) } unless block_given?
    return sort_by { |v| yield v }.first(KumiSys.count_arg(n)) unless __same(n, nil)
    if __ary_plain(self)
      return nil if __ary_len(self) == 0
      keys = __ary_new(__ary_len(self))
      i = 0
      until __undef?(item = __ary_item(self, i))
        k = yield item
        __ary_push(keys, k)
        i += 1
      end
      at = __ary_min_at(keys)
      return __ary_at(self, at) unless __undef?(at)
      at = 0
      i = 1
      while i < __ary_len(keys)
        k = __ary_at(keys, i)
        at = i if KumiSys.cmp_int(k <=> __ary_at(keys, at), k, __ary_at(keys, at)) < 0
        i += 1
      end
      return __ary_at(self, at)
    end
    best = least = nil
    found = false
    KumiSys.walk(self) do |v|
      k = yield v
      if !found || KumiSys.cmp_int(k <=> least, k, least) < 0
        best = v
        least = k
        found = true
      end
    end
    best
  end

  def max_by(n = nil)
    return to_enum(:max_by, *(__same(n, nil) ? [] : [n])) { KumiSys.size_of(self) } unless block_given?
    return sort_by { |v| yield v }.reverse.first(KumiSys.count_arg(n)) unless __same(n, nil)
    if __ary_plain(self)
      return nil if __ary_len(self) == 0
      keys = __ary_new(__ary_len(self))
      i = 0
      until __undef?(item = __ary_item(self, i))
        k = yield item
        __ary_push(keys, k)
        i += 1
      end
      at = __ary_max_at(keys)
      return __ary_at(self, at) unless __undef?(at)
      at = 0
      i = 1
      while i < __ary_len(keys)
        k = __ary_at(keys, i)
        at = i if KumiSys.cmp_int(k <=> __ary_at(keys, at), k, __ary_at(keys, at)) > 0
        i += 1
      end
      return __ary_at(self, at)
    end
    best = most = nil
    found = false
    KumiSys.walk(self) do |v|
      k = yield v
      if !found || KumiSys.cmp_int(k <=> most, k, most) > 0
        best = v
        most = k
        found = true
      end
    end
    best
  end

  def minmax_by
    return to_enum(:minmax_by) { KumiSys.size_of(self) } unless block_given?
    low = high = least = most = nil
    found = false
    KumiSys.walk(self) do |v|
      k = yield v
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

  # --- groups of neighbours --------------------------------------------------

  def each_slice(n)
    n = KumiSys.to_long(n)
    raise ArgumentError, "invalid slice size" if n <= 0
    unless block_given?
      return to_enum(:each_slice, n) do
        s = KumiSys.size_of(self)
        s && (s + n - 1).div(n)
      end
    end
    if __ary_plain(self)
      i = 0
      while i < __ary_len(self)
        yield __ary_part(self, i, n)
        i += n
      end
      return self
    end
    part = __ary_new(n)
    KumiSys.walk(self) do |v|
      __ary_push(part, v)
      if __ary_len(part) == n
        full = part
        part = __ary_new(n)
        yield full
      end
    end
    yield part if __ary_len(part) > 0
    self
  end

  def each_cons(n)
    n = KumiSys.to_long(n)
    raise ArgumentError, "invalid size" if n <= 0
    unless block_given?
      return to_enum(:each_cons, n) do
        s = KumiSys.size_of(self)
        s && (s - n + 1 < 0 ? 0 : s - n + 1)
      end
    end
    if __ary_plain(self)
      i = 0
      while i + n <= __ary_len(self)
        yield __ary_part(self, i, n)
        i += 1
      end
      return self
    end
    part = __ary_new(n)
    KumiSys.walk(self) do |v|
      part.shift if __ary_len(part) == n
      __ary_push(part, v)
      yield __ary_copy(part) if __ary_len(part) == n
    end
    self
  end

  def cycle(n = nil)
    unless block_given?
      return to_enum(:cycle, *(__same(n, nil) ? [] : [n])) { KumiSys.cycle_size(KumiSys.size_of(self), n) }
    end
    unless __same(n, nil)
      n = KumiSys.to_long(n)
      return nil if n <= 0
    end
    list = __ary_new
    each do |*a|
      v = __pack(a)
      __ary_push(list, v)
      yield v
    end
    return nil if __ary_len(list) == 0
    while __same(n, nil) || (n -= 1) > 0
      i = 0
      while i < __ary_len(list)
        yield __ary_at(list, i)
        i += 1
      end
    end
    nil
  end

  def chunk(&block)
    return to_enum(:chunk) { KumiSys.size_of(self) } unless block
    source = self
    Enumerator.new do |y|
      key = nil
      part = nil
      source.each do |*a|
        v = __pack(a)
        k = block.call(v)
        if __same(k, :_alone)
          y << [key, part] if part
          y << [:_alone, [v]]
          part = nil
        elsif __same(k, :_separator) || __same(k, nil)
          y << [key, part] if part
          part = nil
        elsif __is_a(k, Symbol) && k.to_s.start_with?("_")
          raise RuntimeError, "symbols beginning with an underscore are reserved"
        elsif part && key == k
          __ary_push(part, v)
        else
          y << [key, part] if part
          key = k
          part = [v]
        end
      end
      y << [key, part] if part
      nil
    end
  end

  def chunk_while(&block)
    raise ArgumentError, "tried to create Proc object without a block" unless block
    KumiSys.cut_between(self) { |a, b| !block.call(a, b) }
  end

  def slice_when(&block)
    raise ArgumentError, "tried to create Proc object without a block" unless block
    KumiSys.cut_between(self) { |a, b| block.call(a, b) }
  end

  def slice_before(pattern = __undef, &block)
    if __undef?(pattern)
      raise ArgumentError, "wrong number of arguments (given 0, expected 1)" unless block
    elsif block
      raise ArgumentError, "both pattern and block are given"
    end
    source = self
    Enumerator.new do |y|
      part = nil
      source.each do |*a|
        v = __pack(a)
        starts = block ? block.call(v) : pattern === v
        if part && starts
          y << part
          part = [v]
        else
          part ? __ary_push(part, v) : part = [v]
        end
      end
      y << part if part
      nil
    end
  end

  def slice_after(pattern = __undef, &block)
    if __undef?(pattern)
      raise ArgumentError, "wrong number of arguments (given 0, expected 1)" unless block
    elsif block
      raise ArgumentError, "both pattern and block are given"
    end
    source = self
    Enumerator.new do |y|
      part = nil
      source.each do |*a|
        v = __pack(a)
        part ? __ary_push(part, v) : part = [v]
        if block ? block.call(v) : pattern === v
          y << part
          part = nil
        end
      end
      y << part if part
      nil
    end
  end

  def lazy
    source = self
    l = KumiSys.lazy(self, nil, nil, proc { KumiSys.size_of(source) }) { |emit, args| source.each(*args, &emit) }
    __ivar_set(l, :@__one, KumiSys.single?(self))
    l
  end

  def chain(*others)
    Enumerator::Chain.new(self, *others)
  end
end

module KumiSys
  # Does obj.each surely yield one value at a time?
  def self.single?(obj)
    return true if __single(obj)
    return false unless __is_a(obj, Enumerator) && __builtin(obj, :each)
    return __ivar_get(obj, :@__one) ? true : false if __is_a(obj, Enumerator::Lazy)
    single_values?(__ivar_get(obj, :@__recv), __ivar_get(obj, :@__meth))
  end

  # The array behind array.each_with_index, nil for anything else.
  def self.indexed(obj)
    return nil unless __is_a(obj, Enumerator) && __same(__ivar_get(obj, :@__meth), :each_with_index) && __builtin(obj, :each)
    list = __ivar_get(obj, :@__recv)
    __ary_plain(list) && __builtin(list, :each_with_index) && __ary_len(__ivar_get(obj, :@__args)) == 0 ? list : nil
  end

  # What obj.size says, nil when it has none.
  def self.size_of(obj)
    __responds(obj, :size) ? obj.size : nil
  end

  # pattern === v, leaving $~ alone.
  def self.matches?(pattern, v)
    return pattern === v unless __is_a(pattern, Regexp) && __builtin(pattern, :===)
    return pattern.match?(v) if __is_a(v, String) || __is_a(v, Symbol)
    v = try_str(v)
    v ? pattern.match?(v) : false
  end

  def self.list(obj)
    return obj if __ary_plain(obj)
    out = __ary_new
    obj.each { |*a| __ary_push(out, __pack(a)) }
    out
  end

  # Yields every element as one value.
  def self.walk(obj)
    if __ary_plain(obj)
      i = 0
      while i < __ary_len(obj)
        yield __ary_at(obj, i)
        i += 1
      end
    elsif single?(obj)
      obj.each { |v| yield v }
    else
      obj.each { |*a| yield __pack(a) }
    end
  end

  def self.take(obj, n)
    n = to_int(n)
    raise ArgumentError, "attempt to take negative size" if n < 0
    raise RangeError, "bignum too big to convert into 'long'" if n > 0x7fffffffffffffff
    out = __ary_new
    return out if n == 0
    if single?(obj)
      obj.each do |v|
        __ary_push(out, v)
        n -= 1
        return out if n == 0
      end
      return out
    end
    obj.each do |*a|
      __ary_push(out, __pack(a))
      n -= 1
      return out if n == 0
    end
    out
  end

  # What flat_map does with one result.
  def self.add_flat(out, v)
    a = try_ary(v)
    a ? __ary_cat(out, a) : __ary_push(out, v)
    nil
  end

  # An enumerator of runs of neighbours, cut where the block is true of two.
  def self.cut_between(source, &cut)
    Enumerator.new do |y|
      part = nil
      last = nil
      source.each do |*a|
        v = __pack(a)
        if part
          if cut.call(last, v)
            y << part
            part = [v]
          else
            __ary_push(part, v)
          end
        else
          part = [v]
        end
        last = v
      end
      y << part if part
      nil
    end
  end
end
