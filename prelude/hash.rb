# Hash: everything that takes a block, and the lookup of keys whose hash or eql?
# is Ruby code. Natives (crates/core/collection/src/hash.rs) handle plain keys and
# come here for the rest.
module KumiSys
  # Down through Hashes as they are; what else is dug in digs itself.
  def self.dig_far(v, keys)
    at = 0
    while __is_a(v, Hash) && __builtin(v, :dig)
      v = hash_aref(v, __ary_at(keys, at))
      at += 1
      return v if at == __ary_len(keys) || __same(v, nil)
    end
    check_dig(v)
    v.__send__(:dig, *__rest(__ary_part(keys, at, __ary_len(keys) - at)))
  end

  # The hash value of a key as an Integer, by its own method.
  def self.key_hash(key)
    n = key.__send__(:hash)
    __is_a(n, Integer) ? n : to_int(n)
  end

  # Position of key in h, or nil. User code runs between the steps: when it changed
  # the table, the search starts again.
  def self.hash_find(h, key)
    i = __hash_find(h, key)
    return i unless i == false
    hash_probe(h, key, key_hash(key))
  end

  def self.hash_probe(h, key, hv)
    while true
      version = __hash_version(h)
      i = __hash_candidate(h, hv, nil)
      while i
        k = __hash_key(h, i)
        break if __undef?(k)
        found = __same(k, key) || key.eql?(k)
        break unless version == __hash_version(h)
        return i if found
        i = __hash_candidate(h, hv, i)
      end
      return nil if i.nil?
    end
  end

  # h[key] = value for any key.
  def self.hash_put(h, key, value)
    return value if __hash_put(h, key, value)
    hv = key_hash(key)
    while true
      version = __hash_version(h)
      i = hash_probe(h, key, hv)
      return value if __hash_commit(h, hv, key, value, i, version)
    end
  end

  # Adds the key when it is absent: true when it was.
  def self.hash_add(h, key, value)
    while true
      version = __hash_version(h)
      return false if hash_find(h, key)
      return true if __hash_commit(h, key_hash(key), key, value, nil, version)
    end
  end

  # Removes the key: its value, undef when it was absent.
  def self.hash_cut(h, key)
    while true
      version = __hash_version(h)
      i = hash_find(h, key)
      return __undef unless i
      v = __hash_cut(h, i, version)
      return v unless __undef?(v)
    end
  end

  # Value of key in h, undef when absent; default values play no part.
  def self.hash_get(h, key)
    v = __hash_get(h, key)
    return v unless __undef?(v)
    while true
      version = __hash_version(h)
      i = hash_find(h, key)
      return __undef unless i
      v = __hash_val(h, i)
      return v if version == __hash_version(h)
    end
  end

  # h[key], whatever a subclass says of that.
  def self.hash_aref(h, key)
    v = hash_get(h, key)
    return v unless __undef?(v)
    return h.default(key) unless __builtin(h, :default)
    pr = h.default_proc
    pr ? pr.call(h, key) : h.default
  end

  # Copies all entries of src into dst.
  def self.hash_update(dst, src)
    i = __hash_update(dst, src, 0)
    if i
      # The rest needs user code, between whose calls the source may change.
      src = __hash_view(src)
      i = 0 unless i < __hash_len(src)
      while i = __hash_update(dst, src, i)
        hash_put(dst, __hash_key(src, i), __hash_val(src, i))
        i += 1
      end
    end
    dst
  end

  def self.hash_equal(a, b, eql)
    return false unless __hash_len(a) == __hash_len(b)
    return true if __hash_len(a) == 0
    return false unless a.compare_by_identity? == b.compare_by_identity?
    r = recursing_pair(eql ? :eql? : :==, a, b) { hash_equal_entries(a, b, eql) }
    r.nil? ? true : r
  end

  def self.hash_equal_entries(a, b, eql)
    __hash_enter(a)
    begin
      i = -1
      while i = __hash_next(a, i)
        k = __hash_key(a, i)
        x = __hash_val(a, i)
        next if __undef?(x)
        y = hash_get(b, k)
        return false if __undef?(y)
        return false unless __same(x, y) || (eql ? x.eql?(y) : x == y)
      end
    ensure
      __hash_leave(a)
    end
    true
  end

  def self.hash_each_key(h)
    __hash_enter(h)
    begin
      i = -1
      while i = __hash_next(h, i)
        k = __hash_key(h, i)
        yield k unless __undef?(k)
      end
    ensure
      __hash_leave(h)
    end
  end

  # Is every entry of a in b?
  def self.hash_within?(a, b)
    a = __hash_view(a)
    i = -1
    while i = __hash_next(a, i)
      x = __hash_val(a, i)
      y = hash_get(b, __hash_key(a, i))
      return false if __undef?(y)
      return false unless __same(x, y) || x == y
    end
    true
  end

  # Adds what a to_h or Hash[] block gave.
  def self.hash_put_pair(h, pair, where = nil)
    a = try_ary(pair)
    if a.nil?
      raise TypeError, "wrong element type #{__describe_class(pair)} #{where ? "at #{where} " : ''}(expected array)"
    end
    unless a.size == 2
      what = where ? "wrong array length at #{where}" : "element has wrong array length"
      raise ArgumentError, "#{what} (expected 2, was #{a.size})"
    end
    hash_put(h, a[0], a[1])
  end

  # The hash of a structure that may contain itself: the outermost call then gives
  # a value that depends on its size alone.
  def self.hash_outer(obj, size)
    throw :__kumi_recursive_hash, true if recursive?(obj, :hash)
    return recursing(:hash, obj) { yield } if recursive?(self, :hash_outer)
    r = nil
    recursive = catch(:__kumi_recursive_hash) do
      recursing(:hash_outer, self) { recursing(:hash, obj) { r = yield } }
      false
    end
    recursive ? __hash_start(2, size) : r
  end

  # How error messages name an element that should have been an array.
  def self.element_type(e)
    return e.inspect if __same(e, nil) || __same(e, true) || __same(e, false)
    __class(e).name
  end

  # Does x answer to mid by its own account?
  def self.answers?(x, mid)
    return __responds(x, mid) unless __responds(x, :respond_to?)
    return true if __responds(x, mid) && __builtin(x, :respond_to?)
    x.respond_to?(mid)
  end

  # May a dig go on in v, what the first step gave?
  def self.check_dig(v)
    raise TypeError, "#{__class(v)} does not have #dig method" unless answers?(v, :dig)
  end

  def self.hash_check_default_proc(pr)
    return unless pr.lambda?
    n = pr.arity
    return if n == 2 || (n < 0 && n >= -3)
    n = -n - 1 if n < 0
    raise TypeError, "default_proc takes two arguments (2 for #{n})"
  end

  # Keeps the entries for which the block's truth is `wanted`; true when some went.
  def self.hash_keep(h, wanted)
    __check_frozen(h)
    n = __hash_len(h)
    __hash_enter(h)
    begin
      i = -1
      while i = __hash_next(h, i)
        k = __hash_key(h, i)
        v = __hash_val(h, i)
        next if __undef?(v)
        r = yield(k, v) ? true : false
        unless r == wanted
          __check_frozen(h)
          __hash_remove_at(h, i) if __same(__hash_key(h, i), k)
        end
      end
    ensure
      __hash_leave(h)
    end
    __hash_len(h) != n
  end

  # How a symbol key is shown: `name: `, or in quotes when the name is no plain word.
  def self.inspect_key(k)
    if __is_a(k, Symbol)
      simple_key?(k) ? "#{k.name}: " : "#{k.name.inspect}: "
    else
      "#{inspect(k)} => "
    end
  end

  # May the symbol stand before a colon as it is?
  def self.simple_key?(k)
    name = k.name
    return false if name.empty? || k.inspect.start_with?(':"')
    return false if name.start_with?("@", "$", "!")
    !name.end_with?("+", "-", "*", "/", "`", "%", "^", "&", "|", "]", "<", "=", ">", "~", "@")
  end

  def self.key_error(h, key)
    raise KeyError.new("key not found: #{inspect(key)}", receiver: h, key: key)
  end
end

class Hash
  include Enumerable

  def self.[](*args)
    h = allocate
    if __ary_len(args) == 1
      x = __ary_at(args, 0)
      src = KumiSys.try_hash(x)
      if src
        return KumiSys.hash_update(h, src)
      end
      pairs = KumiSys.try_ary(x)
      if pairs
        i = 0
        while i < pairs.size
          e = pairs[i]
          a = KumiSys.try_ary(e)
          raise ArgumentError, "wrong element type #{KumiSys.element_type(e)} at #{i} (expected array)" if a.nil?
          n = a.size
          raise ArgumentError, "invalid number of elements (#{n} for 1..2)" unless n == 1 || n == 2
          KumiSys.hash_put(h, a[0], n == 2 ? a[1] : nil)
          i += 1
        end
        return h
      end
    end
    raise ArgumentError, "odd number of arguments for Hash" if __ary_len(args).odd?
    i = 0
    while i < __ary_len(args)
      KumiSys.hash_put(h, __ary_at(args, i), __ary_at(args, i + 1))
      i += 2
    end
    h
  end

  def self.try_convert(x)
    KumiSys.try_hash(x)
  end

  def initialize(default = __undef, capacity: 0, &block)
    __check_frozen(self)
    capacity = KumiSys.to_long(capacity)
    __hash_reserve(self, capacity) if capacity > 0
    if block
      raise ArgumentError, "wrong number of arguments (given 1, expected 0)" unless __undef?(default)
      KumiSys.hash_check_default_proc(block)
      __hash_set_default_proc(self, block)
    else
      __hash_set_default_proc(self, nil)
      self.default = default unless __undef?(default)
    end
    self
  end

  def default_proc=(prc)
    __check_frozen(self)
    if __same(prc, nil)
      __hash_set_default_proc(self, nil)
      return nil
    end
    pr = KumiSys.try_convert(prc, Proc, :Proc, :to_proc)
    if pr.nil?
      raise TypeError, "wrong default_proc type #{__class(prc)} (expected Proc)"
    end
    KumiSys.hash_check_default_proc(pr)
    __hash_set_default_proc(self, pr)
    prc
  end

  # --- one entry, any key (twins of natives) ---------------------------------

  def [](key)
    KumiSys.hash_aref(self, key)
  end

  def []=(key, value)
    KumiSys.hash_put(self, key, value)
  end

  def store(key, value)
    KumiSys.hash_put(self, key, value)
  end

  def fetch(key, default = __undef)
    if block_given? && !__undef?(default)
      warn("block supersedes default value argument", uplevel: 0)
    end
    v = KumiSys.hash_get(self, key)
    return v unless __undef?(v)
    return yield(key) if block_given?
    return default unless __undef?(default)
    KumiSys.key_error(self, key)
  end

  def key?(key) = !KumiSys.hash_find(self, key).nil?
  def has_key?(key) = !KumiSys.hash_find(self, key).nil?
  def include?(key) = !KumiSys.hash_find(self, key).nil?
  def member?(key) = !KumiSys.hash_find(self, key).nil?

  def delete(key)
    __check_frozen(self)
    v = KumiSys.hash_cut(self, key)
    return v unless __undef?(v)
    block_given? ? yield(key) : nil
  end

  def values_at(*keys)
    out = __ary_new(__ary_len(keys))
    i = 0
    while i < __ary_len(keys)
      __ary_push(out, KumiSys.hash_aref(self, __ary_at(keys, i)))
      i += 1
    end
    out
  end

  def fetch_values(*keys)
    out = __ary_new(__ary_len(keys))
    i = 0
    while i < __ary_len(keys)
      k = __ary_at(keys, i)
      v = KumiSys.hash_get(self, k)
      v = block_given? ? yield(k) : KumiSys.key_error(self, k) if __undef?(v)
      __ary_push(out, v)
      i += 1
    end
    out
  end

  def dig(key, second = __undef, *rest)
    v = KumiSys.hash_aref(self, key)
    return v if __undef?(second) || __same(v, nil)
    case __ary_len(rest)
    when 0
      KumiSys.check_dig(v)
      v.__send__(:dig, second)
    when 1
      KumiSys.check_dig(v)
      v.__send__(:dig, second, __ary_at(rest, 0))
    else KumiSys.dig_far(v, [second, *__rest(rest)])
    end
  end

  def key(value)
    h = __hash_view(self)
    i = -1
    while i = __hash_next(h, i)
      v = __hash_val(h, i)
      return __hash_key(h, i) if __same(v, value) || v == value
    end
    nil
  end

  def value?(value)
    h = __hash_view(self)
    i = -1
    while i = __hash_next(h, i)
      v = __hash_val(h, i)
      return true if __same(v, value) || v == value
    end
    false
  end
  def has_value?(value) = value?(value)

  def assoc(key)
    h = __hash_view(self)
    unless compare_by_identity?
      i = __hash_find(h, key)
      return __hash_pair(h, i) if i
    end
    i = -1
    while i = __hash_next(h, i)
      k = __hash_key(h, i)
      return __hash_pair(h, i) if __same(k, key) || key == k
    end
    nil
  end

  def rassoc(value)
    h = __hash_view(self)
    i = -1
    while i = __hash_next(h, i)
      v = __hash_val(h, i)
      return __hash_pair(h, i) if __same(v, value) || v == value
    end
    nil
  end

  def slice(*keys)
    r = __hash_like(self)
    i = 0
    while i < __ary_len(keys)
      k = __ary_at(keys, i)
      v = KumiSys.hash_get(self, k)
      KumiSys.hash_put(r, k, v) unless __undef?(v)
      i += 1
    end
    r
  end

  def except(*keys)
    r = __hash_copy(self)
    i = 0
    while i < __ary_len(keys)
      r.delete(__ary_at(keys, i))
      i += 1
    end
    r
  end

  def invert
    r = {}
    h = __hash_view(self)
    i = -1
    while i = __hash_next(h, i)
      KumiSys.hash_put(r, __hash_val(h, i), __hash_key(h, i))
    end
    r
  end

  # --- comparison ---------------------------------------------------------------

  def ==(other)
    return true if __same(self, other)
    return KumiSys.answers?(other, :to_hash) && other == self ? true : false unless __is_a(other, Hash)
    KumiSys.hash_equal(self, other, false)
  end

  def eql?(other)
    return true if __same(self, other)
    return KumiSys.answers?(other, :to_hash) && other.eql?(self) ? true : false unless __is_a(other, Hash)
    KumiSys.hash_equal(self, other, true)
  end

  def hash
    t = __hash_view(self)
    n = __hash_len(t)
    KumiSys.hash_outer(self, n) do
      acc = __hash_start(2, n)
      identity = compare_by_identity?
      i = -1
      while i = __hash_next(t, i)
        k = __hash_key(t, i)
        h = identity ? __hash_id(k) : KumiSys.key_hash(k)
        acc = __hash_add(acc, __hash_mix(h, KumiSys.key_hash(__hash_val(t, i))))
      end
      acc
    end
  end

  def <=(other)
    other = KumiSys.to_hash(other)
    return false if size > other.size
    KumiSys.hash_within?(self, other)
  end

  def <(other)
    other = KumiSys.to_hash(other)
    return false if size >= other.size
    KumiSys.hash_within?(self, other)
  end

  def >=(other)
    other = KumiSys.to_hash(other)
    return false if other.size > size
    KumiSys.hash_within?(other, self)
  end

  def >(other)
    other = KumiSys.to_hash(other)
    return false if other.size >= size
    KumiSys.hash_within?(other, self)
  end

  # --- showing and converting ------------------------------------------------------

  def inspect
    return "{}" if __hash_len(self) == 0
    KumiSys.recursing(:inspect, self) do
      s = +"{"
      first = true
      h = __hash_view(self)
      i = -1
      while i = __hash_next(h, i)
        s << ", " unless first
        first = false
        k = __hash_key(h, i)
        v = __hash_val(h, i)
        s << KumiSys.inspect_key(k) << KumiSys.inspect(v)
      end
      s << "}"
    end || "{...}"
  end
  def to_s = inspect

  def to_h
    unless block_given?
      return self if __same(__class(self), Hash)
      h = __hash_copy(self)
      if default_proc
        __hash_set_default_proc(h, default_proc)
      else
        h.default = default
      end
      return h
    end
    r = {}
    __hash_enter(self)
    begin
      i = -1
      while i = __hash_next(self, i)
        k = __hash_key(self, i)
        v = __hash_val(self, i)
        KumiSys.hash_put_pair(r, yield(k, v)) unless __undef?(v)
      end
    ensure
      __hash_leave(self)
    end
    r
  end

  def to_proc
    h = self
    lambda { |key| h[key] }
  end

  def deconstruct_keys(_keys) = self

  def flatten(depth = 1)
    depth = KumiSys.to_cint(depth)
    return to_a if depth == 0
    a = []
    h = __hash_view(self)
    i = -1
    while i = __hash_next(h, i)
      a << __hash_key(h, i) << __hash_val(h, i)
    end
    if depth < 0
      a.flatten!
    elsif depth > 1
      a.flatten!(depth - 1)
    end
    a
  end

  # --- iteration -----------------------------------------------------------------------

  def each
    return KumiSys.enum(self, __called, :size) unless block_given?
    __hash_enter(self)
    begin
      i = -1
      if __block_pairs
        while i = __hash_next(self, i)
          k = __hash_key(self, i)
          v = __hash_val(self, i)
          yield k, v unless __undef?(v)
        end
      else
        while i = __hash_next(self, i)
          pair = __hash_pair(self, i)
          yield pair if pair
        end
      end
    ensure
      __hash_leave(self)
    end
    self
  end
  alias_method :each_pair, :each

  def each_key(&)
    return KumiSys.enum(self, :each_key, :size) unless block_given?
    KumiSys.hash_each_key(self, &)
    self
  end

  def each_value
    return KumiSys.enum(self, :each_value, :size) unless block_given?
    __hash_enter(self)
    begin
      i = -1
      while i = __hash_next(self, i)
        v = __hash_val(self, i)
        yield v unless __undef?(v)
      end
    ensure
      __hash_leave(self)
    end
    self
  end

  def any?(pattern = __undef)
    unless __undef?(pattern)
      warn("given block not used", uplevel: 0) if block_given?
      h = __hash_view(self)
      i = -1
      while i = __hash_next(h, i)
        return true if pattern === __hash_pair(h, i)
      end
      return false
    end
    return __hash_len(self) > 0 unless block_given?
    __hash_enter(self)
    begin
      i = -1
      if __block_pairs
        while i = __hash_next(self, i)
          k = __hash_key(self, i)
          v = __hash_val(self, i)
          return true if !__undef?(v) && yield(k, v)
        end
      else
        while i = __hash_next(self, i)
          pair = __hash_pair(self, i)
          return true if pair && yield(pair)
        end
      end
    ensure
      __hash_leave(self)
    end
    false
  end

  def select
    return KumiSys.enum(self, __called, :size) unless block_given?
    r = __hash_copy(self)
    i = -1
    while i = __hash_next(r, i)
      __hash_remove_at(r, i) unless yield(__hash_key(r, i), __hash_val(r, i))
    end
    r
  end
  alias_method :filter, :select

  def reject
    return KumiSys.enum(self, :reject, :size) unless block_given?
    r = __hash_copy(self)
    i = -1
    while i = __hash_next(r, i)
      __hash_remove_at(r, i) if yield(__hash_key(r, i), __hash_val(r, i))
    end
    r
  end

  def select!
    return KumiSys.enum(self, __called, :size) unless block_given?
    KumiSys.hash_keep(self, true) { |k, v| yield(k, v) } ? self : nil
  end
  alias_method :filter!, :select!

  def keep_if
    return KumiSys.enum(self, :keep_if, :size) unless block_given?
    KumiSys.hash_keep(self, true) { |k, v| yield(k, v) }
    self
  end

  def reject!
    return KumiSys.enum(self, :reject!, :size) unless block_given?
    KumiSys.hash_keep(self, false) { |k, v| yield(k, v) } ? self : nil
  end

  def delete_if
    return KumiSys.enum(self, :delete_if, :size) unless block_given?
    KumiSys.hash_keep(self, false) { |k, v| yield(k, v) }
    self
  end

  def transform_values
    return KumiSys.enum(self, :transform_values, :size) unless block_given?
    r = __hash_copy(self)
    i = -1
    while i = __hash_next(r, i)
      __hash_set_val(r, i, yield(__hash_val(r, i)))
    end
    r
  end

  def transform_values!
    return KumiSys.enum(self, :transform_values!, :size) unless block_given?
    __check_frozen(self)
    __hash_enter(self)
    begin
      i = -1
      while i = __hash_next(self, i)
        v = __hash_val(self, i)
        __hash_set_val(self, i, yield(v)) unless __undef?(v)
      end
    ensure
      __hash_leave(self)
    end
    self
  end

  def transform_keys(mapping = __undef)
    given = !__undef?(mapping)
    return KumiSys.enum(self, :transform_keys, :size) unless block_given? || given
    mapping = KumiSys.to_hash(mapping) if given
    r = {}
    __hash_enter(self)
    begin
      i = -1
      while i = __hash_next(self, i)
        k = __hash_key(self, i)
        v = __hash_val(self, i)
        next if __undef?(v)
        if given
          new = KumiSys.hash_get(mapping, k)
          new = block_given? ? yield(k) : k if __undef?(new)
        else
          new = yield(k)
        end
        KumiSys.hash_put(r, new, v)
      end
    ensure
      __hash_leave(self)
    end
    r
  end

  def transform_keys!(mapping = __undef)
    given = !__undef?(mapping)
    return KumiSys.enum(self, :transform_keys!, :size) unless block_given? || given
    mapping = KumiSys.to_hash(mapping) if given
    __check_frozen(self)
    all = __hash_copy(self)
    new_keys = __hash_like(self)
    i = -1
    while i = __hash_next(all, i)
      k = __hash_key(all, i)
      if given
        new = KumiSys.hash_get(mapping, k)
        new = block_given? ? yield(k) : k if __undef?(new)
      else
        new = yield(k)
      end
      __check_frozen(self)
      delete(k) if __undef?(KumiSys.hash_get(new_keys, k))
      KumiSys.hash_put(self, new, __hash_val(all, i))
      KumiSys.hash_put(new_keys, new, nil)
    end
    self
  end

  # --- merging ----------------------------------------------------------------------------

  def merge(*others, &)
    h = dup
    h.update(*others, &)
  end

  def update(*others)
    __check_frozen(self)
    n = 0
    while n < __ary_len(others)
      o = KumiSys.to_hash(__ary_at(others, n))
      n += 1
      unless block_given?
        KumiSys.hash_update(self, o)
        next
      end
      __hash_enter(o)
      begin
        i = -1
        while i = __hash_next(o, i)
          k = __hash_key(o, i)
          v = __hash_val(o, i)
          next if __undef?(v)
          old = KumiSys.hash_get(self, k)
          v = yield(k, old, v) unless __undef?(old)
          KumiSys.hash_put(self, k, v)
        end
      ensure
        __hash_leave(o)
      end
    end
    self
  end
  alias_method :merge!, :update

  def rehash
    while true
      raise RuntimeError, "rehash during iteration" if __hash_iterating(self)
      __check_frozen(self)
      return self if compare_by_identity?
      version = __hash_version(self)
      all = __hash_copy(self)
      r = __hash_like(self)
      i = -1
      while i = __hash_next(all, i)
        KumiSys.hash_put(r, __hash_key(all, i), __hash_val(all, i))
      end
      return self if __hash_become(self, r, version)
    end
  end
end
