# Enumerable. What `each` yields at once counts as one element: no value is nil,
# several are an array (__pack). Blocks get what `each` yielded, or that element,
# as each method defines it.
#
# Arrays whose `each` is ours are walked by index in the methods that matter.
#
# Here: walking over all elements, and lists of what comes of each. The files enumerable_*.rb have the rest.
module Enumerable
  def to_a(*args, **opts)
    out = __ary_new
    if __ary_len(args) == 0 && __hash_len(opts) == 0 && KumiSys.single?(self)
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
    return KumiSys.enum(self, :each_entry, :size_of, __ary_len(args) == 0 ? nil : __rest(args)) unless block_given?
    lax = __block_literal ? nil : KumiSys.lax(__block_proc)
    each(*args) do |*a|
      __ary_len(a) == 1 ? yield(__ary_at(a, 0)) : yield(*KumiSys.fit(lax, __rest(a)))
    end
    self
  end

  def each_with_index(*args)
    return KumiSys.enum(self, :each_with_index, :size_of, __ary_len(args) == 0 ? nil : __rest(args)) unless block_given?
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
    return KumiSys.enum(self, :each_with_object, :size_of, [memo]) unless block_given?
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
    return KumiSys.enum(self, :reverse_each, :size_of, __ary_len(args) == 0 ? nil : __rest(args)) unless block_given?
    a = __ary_new
    each(*args) { |*v| __ary_push(a, __pack(v)) }
    i = __ary_len(a) - 1
    while i >= 0
      yield __ary_at(a, i)
      i -= 1
    end
    self
  end

  def map
    return KumiSys.enum(self, __called, :size_of) unless block_given?
    out = __ary_new
    if __is_a(self, Hash) && __block_pairs || !__block_literal && KumiSys.gives_pairs?(self) && KumiSys.pair_lambda?(__block_proc)
      each do |k, x|
        v = yield k, x
        __ary_push(out, v)
      end
    elsif KumiSys.single?(self)
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
    return KumiSys.enum(self, __called, :size_of) unless block_given?
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
    return KumiSys.enum(self, __called, :size_of) unless block_given?
    out = __ary_new
    if KumiSys.single?(self)
      each { |v| __ary_push(out, v) if yield v }
    else
      lax = __block_literal ? nil : KumiSys.lax(__block_proc)
      each do |*a|
        __ary_push(out, __pack(a)) if (lax || __ary_len(a) == 0 ? yield(*KumiSys.fit(lax, __rest(a))) : yield(__pack(a)))
      end
    end
    out
  end
  alias find_all select
  alias filter select

  def filter_map
    return KumiSys.enum(self, :filter_map, :size_of) unless block_given?
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
    return KumiSys.enum(self, :reject, :size_of) unless block_given?
    out = __ary_new
    if KumiSys.single?(self)
      each { |v| __ary_push(out, v) unless yield v }
    else
      lax = __block_literal ? nil : KumiSys.lax(__block_proc)
      each do |*a|
        __ary_push(out, __pack(a)) unless (lax || __ary_len(a) == 0 ? yield(*KumiSys.fit(lax, __rest(a))) : yield(__pack(a)))
      end
    end
    out
  end

  def partition
    return KumiSys.enum(self, :partition, :size_of) unless block_given?
    yes = __ary_new
    no = __ary_new
    if __ary_plain(self)
      i = 0
      until __undef?(v = __ary_item(self, i))
        __ary_push((yield v) ? yes : no, v)
        i += 1
      end
    else
      lax = __block_literal ? nil : KumiSys.lax(__block_proc)
      each do |*a|
        __ary_push((lax || __ary_len(a) == 0 ? yield(*KumiSys.fit(lax, __rest(a))) : yield(__pack(a))) ? yes : no, __pack(a))
      end
    end
    [yes, no]
  end

  def group_by
    return KumiSys.enum(self, :group_by, :size_of) unless block_given?
    h = {}
    if __ary_plain(self)
      i = 0
      until __undef?(v = __ary_item(self, i))
        k = yield v
        unless __hash_group(h, k, v)
          l = h[k]
          l ? __ary_push(l, v) : h[k] = [v]
        end
        i += 1
      end
    else
      lax = __block_literal ? nil : KumiSys.lax(__block_proc)
      each do |*a|
        k = (lax || __ary_len(a) == 0 ? yield(*KumiSys.fit(lax, __rest(a))) : yield(__pack(a)))
        v = __pack(a)
        unless __hash_group(h, k, v)
          l = h[k]
          l ? __ary_push(l, v) : h[k] = [v]
        end
      end
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
    sources = others
    k = 0
    while k < __ary_len(sources)
      o = __ary_at(sources, k)
      __ary_set(sources, k, KumiSys.zip_list(o) || o.to_enum(:each))
      k += 1
    end
    out = block_given? ? nil : __ary_new
    lax = out || __block_literal ? nil : KumiSys.lax(__block_proc)
    n = 0
    each do |*a|
      row = KumiSys.zip_row(__pack(a), sources, n)
      n += 1
      if out
        __ary_push(out, row)
      elsif __ary_len(row) == 1
        yield __ary_at(row, 0)
      else
        yield(*(lax ? KumiSys.fit(lax, row) : [row]))
      end
    end
    out
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
  # A lambda that must have two values: a Hash's pairs come to it as two.
  def self.pair_lambda?(block)
    return false unless __is_a(block, Proc) && block.lambda?
    n = block.arity
    n > 1 || n < -2
  end

  # Does obj.each yield pairs that such a lambda has as two values?
  def self.gives_pairs?(obj)
    return true if __is_a(obj, Hash)
    return false unless __same(__class(obj), Enumerator) && __is_a(__ivar_get(obj, :@__recv), Hash)
    meth = __ivar_get(obj, :@__meth)
    __same(meth, :each) || __same(meth, :each_pair)
  end

  # What several values given as one element become for a lambda that was not written where it is called: it takes them
  # apart as a block does, for what it must have, what it may have, and whether it takes the rest. nil for other blocks.
  def self.lax(block)
    return nil unless __is_a(block, Proc) && block.lambda? && __proc_kind(block)[0] == 0
    must = may = 0
    rest = false
    block.parameters.each do |kind, _|
      case kind
      when :req then must += 1
      when :opt then may += 1
      when :rest then rest = true
      end
    end
    # One value goes in as it is, and so it is where all are the rest.
    return nil if must + may == 1 && !(must == 1 && rest) || must + may == 0 && rest
    [must, may, rest]
  end

  # The arguments of a block that gets these values as one element (see `lax`).
  def self.fit(lax, values)
    n = __ary_len(values)
    return values if n < 2
    return [values] unless lax
    must, may, rest = lax
    return __ary_part(values, 0, must + may) if n > must + may && !rest
    values = __ary_copy(values)
    while n < must
      __ary_push(values, nil)
      n += 1
    end
    values
  end

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
  def self.size_of(obj, *)
    __responds(obj, :size) ? obj.__send__(:size) : nil
  end

  def self.list(obj)
    return obj if __ary_plain(obj)
    out = __ary_new
    obj.__send__(:each) { |*a| __ary_push(out, __pack(a)) }
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
      obj.__send__(:each) { |v| yield v }
    else
      obj.__send__(:each) { |*a| yield __pack(a) }
    end
  end

  # What zip is given as an Array; nil for what must be walked.
  def self.zip_list(o)
    a = try_ary(o)
    return a if a
    raise TypeError, "wrong argument type #{__describe_class(o)} (must respond to :each)" unless o.respond_to?(:each)
    nil
  end

  # A row of zip: v and the n-th of each source. One that is an enumerator is asked for its next; at its end it makes way for nil.
  def self.zip_row(v, sources, n)
    row = [v]
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
    row
  end

  # What flat_map does with one result.
  def self.add_flat(out, v)
    a = try_ary(v)
    a ? __ary_cat(out, a) : __ary_push(out, v)
    nil
  end
end
