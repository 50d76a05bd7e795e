# Struct: records with named, changeable members.
class Struct
  include Enumerable

  def self.new(*args, keyword_init: nil, &block)
    name = nil
    if __ary_len(args) != 0 && (__same(args[0], nil) || !__is_a(args[0], Symbol))
      first = args.shift
      unless __same(first, nil)
        name = KumiSys.try_str(first)
        raise TypeError, "#{KumiSys.inspect(first)} is not a symbol nor a string" if name.nil?
      end
    end
    members = args.map { |m| KumiSys.to_name(m) }
    members.each_with_index do |m, i|
      raise ArgumentError, "duplicate member: #{m}" if members.index(m) < i
    end
    if name && !name.match?(/\A[[:upper:]]\w*\z/)
      raise NameError.new("identifier #{name} needs to be constant", name.to_sym, receiver: self)
    end
    klass = __struct_class(self, members, false)
    __ivar_set(klass, :@__keyword_init, keyword_init ? true : keyword_init)
    klass.extend(KumiSys::StructClass)
    if name
      if const_defined?(name, false)
        warn("redefining constant #{self}::#{name}", uplevel: 0)
        remove_const(name)
      end
      const_set(name, klass)
    end
    __send__(:inherited, klass)
    klass.class_eval(&block) if block
    klass
  end

  def initialize(*args, **kw)
    __check_frozen(self)
    mode = __ivar_get(__struct_definer(self), :@__keyword_init)
    given = __ary_len(args)
    if mode && kw.empty? && given == 1 && __is_a(__ary_at(args, 0), Hash)
      KumiSys.struct_by_name(self, __ary_at(args, 0))
    elsif mode || (mode.nil? && given == 0 && !kw.empty?)
      KumiSys.arity_error(given, 0) unless given == 0
      KumiSys.struct_by_name(self, kw)
    else
      # Keywords are the last value.
      last = kw.empty? ? -1 : given
      n = __struct_size(self)
      raise ArgumentError, "struct size differs" if given > n || last == n
      i = 0
      while i < n
        __struct_set(self, i, i == last ? kw : __ary_at(args, i))
        i += 1
      end
    end
    nil
  end

  def ==(other) = KumiSys.struct_equal?(self, other, false)
  def eql?(other) = KumiSys.struct_equal?(self, other, true)
  def hash = KumiSys.struct_hash(self)

  def inspect = KumiSys.struct_inspect(self, "struct")
  alias_method :to_s, :inspect

  def to_h(&)
    KumiSys.struct_to_h(self, &)
  end

  def each
    return KumiSys.enum(self, :each, :struct_size) unless block_given?
    i = 0
    n = __struct_size(self)
    while i < n
      yield __struct_get(self, i)
      i += 1
    end
    self
  end

  def each_pair
    return KumiSys.enum(self, :each_pair, :struct_size) unless block_given?
    i = 0
    n = __struct_size(self)
    while i < n
      if __block_pairs
        yield __struct_name(self, i), __struct_get(self, i)
      else
        yield [__struct_name(self, i), __struct_get(self, i)]
      end
      i += 1
    end
    self
  end

  def select
    return KumiSys.enum(self, __called, :struct_size) unless block_given?
    out = __ary_new
    i = 0
    n = __struct_size(self)
    while i < n
      v = __struct_get(self, i)
      __ary_push(out, v) if yield v
      i += 1
    end
    out
  end
  alias_method :filter, :select

  def values_at(*indices)
    r = []
    n = __struct_size(self)
    at = 0
    while at < __ary_len(indices)
      i = __ary_at(indices, at)
      at += 1
      if __is_a(i, Range)
        from, len = KumiSys.struct_range(i, n)
        k = 0
        while k < len
          __ary_push(r, __struct_get(self, from + k))
          k += 1
        end
      else
        __ary_push(r, self[KumiSys.to_cint(i)])
      end
    end
    r
  end

  def dig(key, *rest)
    v = begin
      self[key]
    rescue IndexError, NameError
      raise TypeError, "no implicit conversion of #{__describe_type(key)} into Integer" unless
        __is_a(key, Symbol) || __is_a(key, String) || __is_a(key, Integer)
      nil
    end
    return v if __ary_len(rest) == 0 || v.nil?
    KumiSys.check_dig(v)
    v.dig(*rest)
  end

  def deconstruct_keys(keys) = KumiSys.struct_deconstruct_keys(self, keys)
end

module KumiSys
  # A member may be called `size`.
  def self.struct_size(s) = __struct_size(s)

  # Fills a record from names and values.
  def self.struct_by_name(s, pairs)
    i = 0
    n = __struct_size(s)
    while i < n
      __struct_set(s, i, nil)
      i += 1
    end
    pairs = __hash_view(pairs)
    unknown = nil
    at = -1
    while at = __hash_next(pairs, at)
      k = __hash_key(pairs, at)
      i = __struct_index(s, k)
      i ? __struct_set(s, i, __hash_val(pairs, at)) : (unknown ||= []) << k
    end
    raise ArgumentError, "unknown keywords: #{unknown.join(", ")}" if unknown
  end

  # Are two records of one class, with members that are equal by == or by eql??
  def self.struct_equal?(a, b, eql)
    return true if __same(a, b)
    return false unless __same(__class(a), __class(b))
    r = recursing_pair(eql ? :eql? : :==, a, b) do
      i = 0
      n = __struct_size(a)
      i += 1 while i < n && (__same(x = __struct_get(a, i), y = __struct_get(b, i)) || (eql ? x.eql?(y) : x == y))
      i == n
    end
    __same(r, nil) ? true : r
  end

  # What classes made by Struct.new answer.
  module StructClass
    def members = __struct_members(self)

    def keyword_init?
      __ivar_get(__struct_definer(self), :@__keyword_init)
    end

    def inspect
      __ivar_get(self, :@__keyword_init) ? "#{super}(keyword_init: true)" : super
    end
  end

  def self.struct_hash(s)
    hash_outer(s, __struct_members(s).size) do
      acc = __hash_start(6, __class(s).hash)
      i = 0
      n = __struct_members(s).size
      while i < n
        acc = __hash_mix(acc, key_hash(__struct_get(s, i)))
        i += 1
      end
      acc
    end
  end

  def self.struct_inspect(s, what)
    name = __class_path(__class(s))
    head = name ? "#<#{what} #{name}" : "#<#{what}"
    recursing(:inspect, s) do
      parts = []
      i = 0
      __struct_members(s).each do |m|
        shown = m.match?(/\A[[:alpha:]_][[:alnum:]_]*\z/) ? m.name : m.inspect
        parts << " #{shown}=#{inspect(__struct_get(s, i))}"
        i += 1
      end
      "#{head}#{parts.empty? && name.nil? ? " " : parts.join(",")}>"
    end || "#<#{what} #{name || __class(s)}:...>"
  end

  # Pairs of a record as a Hash; the block may give undef to keep a pair as it is.
  def self.struct_to_h(s)
    h = {}
    i = 0
    n = __struct_size(s)
    while i < n
      v = __struct_get(s, i)
      m = __struct_name(s, i)
      pair = block_given? ? yield(m, v) : __undef
      __undef?(pair) ? h[m] = v : hash_put_pair(h, pair)
      i += 1
    end
    h
  end

  def self.struct_deconstruct_keys(s, keys)
    return struct_to_h(s) if keys.nil?
    unless __is_a(keys, Array)
      raise TypeError, "wrong argument type #{__describe_class(keys)} (expected Array or nil)"
    end
    h = {}
    return h if keys.size > __struct_members(s).size
    keys.each do |k|
      unless __is_a(k, Symbol) || __is_a(k, String)
        if __is_a(s, Data)
          k = data_key(k)
        else
          i = struct_key_index(s, k)
          return h unless i
          h[k] = __struct_get(s, i)
          next
        end
      end
      i = __struct_index(s, __is_a(k, String) ? k.to_sym : k)
      return h unless i
      h[k] = __struct_get(s, i)
    end
    h
  end

  # deconstruct_keys of Struct takes names and numbers too.
  def self.struct_key_index(s, k)
    i = to_long(k)
    n = __struct_members(s).size
    i += n if i < 0
    i >= 0 && i < n ? i : nil
  end

  # A member's name given as any object that converts to String.
  def self.data_key(k)
    t = try_str(k)
    raise TypeError, "#{inspect(k)} is not a symbol nor a string" if t.nil?
    t
  end

  # Start and length of a range over n slots.
  def self.struct_range(r, n)
    from = r.begin.nil? ? 0 : to_long(r.begin)
    to = r.end.nil? ? -1 : to_long(r.end)
    excl = r.end.nil? ? false : r.exclude_end?
    from += n if from < 0
    raise RangeError, "#{inspect(r)} out of range" if from < 0 || from > n
    to += n if to < 0
    to += 1 unless excl
    len = to - from
    [from, len < 0 ? 0 : len]
  end
end
