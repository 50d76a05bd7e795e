# Set: a collection of distinct elements in order of insertion, over a Hash that
# keeps them as keys (in a hidden variable).
class Set
  include Enumerable

  def self.[](*elements)
    s = new
    h = __ivar_get(s, :@__h)
    elements.each { |e| KumiSys.set_put(h, e) }
    s
  end

  def initialize(enum = nil)
    __ivar_set(self, :@__h, {})
    return if enum.nil?
    if block_given?
      KumiSys.set_each(enum) { |x| add(yield(x)) }
    else
      merge(enum)
    end
  end

  def initialize_copy(other)
    __ivar_set(self, :@__h, __hash_copy(KumiSys.set_hash(other)))
    self
  end
  private :initialize_copy

  def freeze
    KumiSys.set_hash(self).freeze
    super
  end

  def compare_by_identity
    h = KumiSys.set_hash(self)
    return self if h.compare_by_identity?
    __check_frozen(self)
    h.compare_by_identity
    self
  end

  def compare_by_identity? = KumiSys.set_hash(self).compare_by_identity?

  # --- elements ------------------------------------------------------------------

  def size = __hash_len(KumiSys.set_hash(self))
  def length = __hash_len(KumiSys.set_hash(self))

  def count(*args, &block)
    __ary_len(args) == 0 && !block ? size : super
  end

  def empty? = __hash_len(KumiSys.set_hash(self)) == 0

  def include?(x) = !KumiSys.hash_find(KumiSys.set_hash(self), x).nil?
  def member?(x) = !KumiSys.hash_find(KumiSys.set_hash(self), x).nil?
  def ===(x) = !KumiSys.hash_find(KumiSys.set_hash(self), x).nil?

  def add(x)
    __check_frozen(self)
    KumiSys.set_put(KumiSys.set_hash(self), x)
    self
  end

  def <<(x)
    __check_frozen(self)
    KumiSys.set_put(KumiSys.set_hash(self), x)
    self
  end

  def add?(x)
    __check_frozen(self)
    h = KumiSys.set_hash(self)
    KumiSys.hash_add(h, x, true) ? self : nil
  end

  def delete(x)
    __check_frozen(self)
    KumiSys.set_hash(self).delete(x)
    self
  end

  def delete?(x)
    __check_frozen(self)
    h = KumiSys.set_hash(self)
    __undef?(KumiSys.hash_cut(h, x)) ? nil : self
  end

  def clear
    __check_frozen(self)
    KumiSys.set_hash(self).clear
    self
  end

  def to_a = KumiSys.set_hash(self).keys

  def first(n = __undef)
    if __undef?(n)
      h = KumiSys.set_hash(self)
      while true
        i = __hash_next(h, -1)
        return nil unless i
        k = __hash_key(h, i)
        return k unless __undef?(k)
      end
    end
    super(n)
  end

  def to_set(klass = __undef, *args, &block)
    return self if __undef?(klass) && !block && __same(__class(self), Set)
    klass = Set if __undef?(klass)
    klass.new(self, *args, &block)
  end

  def each(&)
    return to_enum(:each) { size } unless block_given?
    KumiSys.hash_each_key(KumiSys.set_hash(self), &)
    self
  end

  def join(separator = nil) = to_a.join(separator)

  # --- changing many ----------------------------------------------------------------

  def merge(*enums, **nil)
    __check_frozen(self)
    h = KumiSys.set_hash(self)
    own = __builtin(self, :add)
    enums.each do |e|
      if !own
        KumiSys.set_each(e) { |x| add(x) }
      elsif __is_a(e, Set)
        KumiSys.hash_update(h, KumiSys.set_hash(e))
      else
        KumiSys.set_each(e) { |x| KumiSys.set_put(h, x) }
      end
    end
    self
  end

  def subtract(enum)
    __check_frozen(self)
    KumiSys.set_each(enum) { |x| delete(x) }
    self
  end

  def replace(enum)
    __check_frozen(self)
    h = KumiSys.set_hash(self)
    raise RuntimeError, "can't replace set during iteration" if __hash_iterating(h)
    if __is_a(enum, Set)
      __ivar_set(self, :@__h, __hash_copy(KumiSys.set_hash(enum)))
    else
      KumiSys.set_check(enum)
      fresh = __hash_like(h)
      KumiSys.set_each(enum) { |x| KumiSys.set_put(fresh, x) }
      __check_frozen(self)
      __ivar_set(self, :@__h, fresh)
    end
    self
  end

  def reset
    __check_frozen(self)
    h = KumiSys.set_hash(self)
    raise RuntimeError, "reset during iteration" if __hash_iterating(h)
    h.rehash
    self
  end

  def delete_if
    return to_enum(:delete_if) { size } unless block_given?
    __check_frozen(self)
    KumiSys.hash_keep(KumiSys.set_hash(self), false) { |x, _| yield x }
    self
  end

  def keep_if
    return to_enum(:keep_if) { size } unless block_given?
    __check_frozen(self)
    KumiSys.hash_keep(KumiSys.set_hash(self), true) { |x, _| yield x }
    self
  end

  def select!
    return to_enum(__called) { size } unless block_given?
    __check_frozen(self)
    KumiSys.hash_keep(KumiSys.set_hash(self), true) { |x, _| yield x } ? self : nil
  end
  alias_method :filter!, :select!

  def reject!
    return to_enum(:reject!) { size } unless block_given?
    __check_frozen(self)
    KumiSys.hash_keep(KumiSys.set_hash(self), false) { |x, _| yield x } ? self : nil
  end

  def partition
    return to_enum(:partition) { size } unless block_given?
    yes = []
    no = []
    each { |x| (yield(x) ? yes : no) << x }
    [yes, no]
  end

  def collect!
    return to_enum(__called) { size } unless block_given?
    __check_frozen(self)
    fresh = {}
    each { |x| KumiSys.set_put(fresh, yield(x)) }
    __ivar_set(self, :@__h, fresh)
    self
  end
  alias_method :map!, :collect!

  def flatten
    KumiSys.set_flatten(self, __class(self).new)
  end

  def flatten!
    __check_frozen(self)
    return nil unless any? { |x| __is_a(x, Set) }
    replace(KumiSys.set_flatten(self, __class(self).new))
  end

  # --- algebra --------------------------------------------------------------------------

  def |(enum)
    KumiSys.set_check(enum)
    dup.merge(enum)
  end
  alias_method :union, :|
  alias_method :+, :|

  def -(enum)
    KumiSys.set_check(enum)
    dup.subtract(enum)
  end
  alias_method :difference, :-

  def &(enum)
    KumiSys.set_check(enum)
    s = __class(self).new
    h = KumiSys.set_hash(s)
    mine = KumiSys.set_hash(self)
    if __is_a(enum, Set) && enum.size > size
      theirs = KumiSys.set_hash(enum)
      each { |x| KumiSys.set_put(h, x) if KumiSys.hash_find(theirs, x) }
    else
      KumiSys.set_each(enum) { |x| KumiSys.set_put(h, x) if KumiSys.hash_find(mine, x) }
    end
    s
  end
  alias_method :intersection, :&

  def ^(enum)
    KumiSys.set_check(enum)
    s = KumiSys.set_like(self).merge(enum)
    each { |x| s.add?(x) || s.delete(x) }
    s
  end

  def ==(other)
    return true if __same(self, other)
    return false unless __is_a(other, Set)
    a = KumiSys.set_hash(self)
    b = KumiSys.set_hash(other)
    return false unless __hash_len(a) == __hash_len(b)
    return false unless a.compare_by_identity? == b.compare_by_identity?
    r = KumiSys.recursing_pair(:==, self, other) { KumiSys.set_within?(a, b) }
    r.nil? ? true : r
  end
  alias_method :eql?, :==

  def hash
    h = __hash_view(KumiSys.set_hash(self))
    KumiSys.hash_outer(self, __hash_len(h)) do
      acc = __hash_start(8, __hash_len(h))
      i = -1
      while i = __hash_next(h, i)
        k = __hash_key(h, i)
        acc = __hash_add(acc, __hash_mix(3, h.compare_by_identity? ? __hash_id(k) : KumiSys.key_hash(k)))
      end
      acc
    end
  end

  def <=>(other)
    return nil unless __is_a(other, Set)
    case size <=> other.size
    when -1 then -1 if proper_subset?(other)
    when 1 then 1 if proper_superset?(other)
    else 0 if self == other
    end
  end

  def superset?(other)
    KumiSys.set_set(other)
    size >= other.size && KumiSys.set_within?(KumiSys.set_hash(other), KumiSys.set_hash(self))
  end
  alias_method :>=, :superset?

  def proper_superset?(other)
    KumiSys.set_set(other)
    size > other.size && KumiSys.set_within?(KumiSys.set_hash(other), KumiSys.set_hash(self))
  end
  alias_method :>, :proper_superset?

  def subset?(other)
    KumiSys.set_set(other)
    size <= other.size && KumiSys.set_within?(KumiSys.set_hash(self), KumiSys.set_hash(other))
  end
  alias_method :<=, :subset?

  def proper_subset?(other)
    KumiSys.set_set(other)
    size < other.size && KumiSys.set_within?(KumiSys.set_hash(self), KumiSys.set_hash(other))
  end
  alias_method :<, :proper_subset?

  def intersect?(other)
    h = KumiSys.set_hash(self)
    if __is_a(other, Set)
      small, large = size < other.size ? [self, other] : [other, self]
      h = KumiSys.set_hash(large)
      small.each { |x| return true if KumiSys.hash_find(h, x) }
      return false
    end
    raise ArgumentError, "value must be enumerable" unless __is_a(other, Enumerable) || KumiSys.answers?(other, :each)
    KumiSys.set_each(other) { |x| return true if KumiSys.hash_find(h, x) }
    false
  end

  def disjoint?(other) = !intersect?(other)

  def classify(&)
    return to_enum(:classify) { size } unless block_given?
    KumiSys.set_classes(self, &)
  end

  def divide(&block)
    return to_enum(:divide) { size } unless block
    if block.arity == 2
      KumiSys.set_components(self, __class(self).new, block)
    else
      s = __class(self).new
      KumiSys.set_classes(self, &block).each_value { |part| s.add(part) }
      s
    end
  end

  # --- showing ------------------------------------------------------------------------------

  # Subclasses keep the older form.
  def inspect
    plain = __same(__class(self), Set)
    head = plain ? "Set[" : "#<#{__class(self)}: {"
    tail = plain ? "]" : "}>"
    KumiSys.recursing(:inspect, self) do
      head + to_a.map { |x| KumiSys.inspect(x) }.join(", ") + tail
    end || "#{head}...#{tail}"
  end
  alias_method :to_s, :inspect

  def pretty_print(pp)
    name = __class(self).name
    pp.group(1, "#{name}[", "]") do
      pp.seplist(self) { |x| pp.pp x }
    end
  end

  def pretty_print_cycle(pp)
    pp.text(empty? ? "#{__class(self).name}[]" : "#{__class(self).name}[...]")
  end
end

module Enumerable
  def to_set(klass = __undef, *args, &block)
    if __undef?(klass)
      klass = Set
    else
      warn("passing arguments to Enumerable#to_set is deprecated", uplevel: 0)
    end
    klass.new(self, *args, &block)
  end
end

module KumiSys
  # The table of a set; one that was only allocated gets it now.
  def self.set_hash(s)
    h = __ivar_get(s, :@__h)
    return h if h
    raise TypeError, "value must be a set" unless __is_a(s, Set)
    h = {}
    __ivar_set(s, :@__h, h)
    h
  end

  # Adds an element; strings are kept as frozen copies, like the keys of a Hash.
  def self.set_put(h, x) = hash_put(h, x, true)

  # An empty set of the same class and comparison.
  def self.set_like(s)
    r = __class(s).new
    r.compare_by_identity if s.compare_by_identity?
    r
  end

  def self.set_each(enum)
    if __is_a(enum, Array)
      i = 0
      while i < enum.size
        yield enum[i]
        i += 1
      end
    elsif answers?(enum, :each_entry)
      enum.each_entry { |x| yield x }
    elsif answers?(enum, :each)
      enum.each { |x| yield x }
    else
      raise ArgumentError, "value must be enumerable"
    end
  end

  def self.set_check(enum)
    return if __is_a(enum, Array) || answers?(enum, :each_entry) || answers?(enum, :each)
    raise ArgumentError, "value must be enumerable"
  end

  def self.set_set(x)
    raise ArgumentError, "value must be a set" unless __is_a(x, Set)
  end

  # Is every key of a in b?
  def self.set_within?(a, b)
    a = __hash_view(a)
    i = -1
    while i = __hash_next(a, i)
      return false unless hash_find(b, __hash_key(a, i))
    end
    true
  end

  # Subsets by what the block makes of their elements.
  def self.set_classes(s)
    r = {}
    s.__send__(:each) { |x| (r[yield(x)] ||= __class(s).new).add(x) }
    r
  end

  def self.set_flatten(s, into)
    done = recursing(:flatten, s) do
      s.each { |x| __is_a(x, Set) ? set_flatten(x, into) : into.add(x) }
      true
    end
    raise ArgumentError, "tried to flatten recursive Set" unless done
    into
  end

  # Divides a set by a relation of two elements: parts that reach each other.
  def self.set_components(s, into, related)
    elements = s.to_a
    n = elements.size
    out = Array.new(n) { |i| (0...n).select { |j| i != j && related.call(elements[i], elements[j]) } }
    # Tarjan's strongly connected components, with its own stack.
    order = Array.new(n)
    low = Array.new(n)
    on_stack = Array.new(n, false)
    stack = []
    count = 0
    n.times do |root|
      next if order[root]
      work = [[root, 0]]
      until work.empty?
        v, k = work.last
        if k == 0
          order[v] = low[v] = count
          count += 1
          stack.push(v)
          on_stack[v] = true
        end
        if k < out[v].size
          work.last[1] = k + 1
          w = out[v][k]
          if order[w].nil?
            work.push([w, 0])
          elsif on_stack[w]
            low[v] = order[w] if order[w] < low[v]
          end
          next
        end
        work.pop
        u = work.last
        low[u[0]] = low[v] if u && low[v] < low[u[0]]
        next unless low[v] == order[v]
        part = __class(s).new
        while true
          w = stack.pop
          on_stack[w] = false
          part.add(elements[w])
          break if w == v
        end
        into.add(part)
      end
    end
    into
  end
end
