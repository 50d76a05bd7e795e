# Enumerator: a receiver, a method and arguments to iterate with, now or step by
# step. Step by step (next, peek) runs the iteration in a Fiber, except that an
# Array's each is read by index.
#
# Hidden state: @__recv, @__meth, @__args, @__opts (nil: no keywords), @__size (a
# number, nil, something to call, `:size` of the receiver, or the name of a function
# of ours that is given receiver and arguments); @__look is the list of values peeked at.
module Kernel
  def to_enum(meth = :each, *args, **opts, &size)
    KumiSys.enum_new(Enumerator, self, meth, args, opts, size)
  end
  alias enum_for to_enum
end

class Enumerator
  include Enumerable

  def initialize(size = nil, &block)
    raise ArgumentError, "tried to create Proc object without a block" unless block
    __check_frozen(self)
    size = KumiSys.enum_size(size)
    @__recv = Generator.new(&block)
    @__meth = :each
    @__args = []
    @__opts = nil
    @__size = size
    self
  end

  def initialize_copy(other)
    return self if __same(self, other)
    raise TypeError, "can't copy execution context" if __ivar_get(other, :@__fiber) || __ivar_get(other, :@__pos) || __ivar_get(other, :@__at)
    raise ArgumentError, "uninitialized enumerator" unless __ivar_get(other, :@__meth)
    @__recv = __ivar_get(other, :@__recv)
    @__meth = __ivar_get(other, :@__meth)
    @__args = __ivar_get(other, :@__args)
    @__opts = __ivar_get(other, :@__opts)
    @__size = __ivar_get(other, :@__size)
    @__look = @__stop = @__pos = @__at = @__fiber = nil
    self
  end

  def self.produce(*first, size: Float::INFINITY, &block)
    raise ArgumentError, "no block given" unless block
    KumiSys.arity_error(__ary_len(first), 0, 1) if __ary_len(first) > 1
    size = KumiSys.enum_size(size)
    KumiSys.enum_new(Enumerator, Producer.new(first, &block), :each, [], nil, size)
  end

  def self.product(*enums, **opts, &block)
    KumiSys.no_keywords(opts)
    e = Product.new(*enums)
    return e unless block
    e.each(&block)
    nil
  end

  def each(*args, **opts, &)
    raise ArgumentError, "uninitialized enumerator" unless @__meth
    if __ary_len(args) > 0 || __hash_len(opts) != 0
      e = KumiSys.enum_with(self, __rest(args), **opts)
      return e unless block_given?
      return e.each(&)
    end
    return self unless block_given?
    if @__opts
      @__recv.__send__(@__meth, *@__args, **@__opts, &)
    elsif __ary_len(@__args) == 0
      @__recv.__send__(@__meth, &)
    else
      @__recv.__send__(@__meth, *@__args, &)
    end
  end

  def size
    s = @__size
    return s if __same(s, nil) || __is_a(s, Integer) || __is_a(s, Float)
    if __is_a(s, Symbol)
      return __same(s, :size) ? @__recv.__send__(:size) : KumiSys.__send__(s, @__recv, *@__args)
    end
    return s unless s.respond_to?(:call)
    @__args ? s.call(*@__args) : s.call
  end

  def with_index(offset = 0, &)
    offset = __same(offset, nil) ? 0 : KumiSys.to_int(offset)
    return KumiSys.enum(self, :with_index, :size, [offset]) unless block_given?
    i = offset
    if (list = KumiSys.plain_walk(@__recv, @__meth, self))
      # array.each and array.map with an index: no need to go through either.
      out = __same(@__meth, :each) ? nil : __ary_new(__ary_len(list))
      k = 0
      while k < __ary_len(list)
        v = yield __ary_at(list, k), i
        __ary_push(out, v) if out
        i += 1
        k += 1
      end
      out || list
    else
      KumiSys.counted(self, i, &)
    end
  end

  def each_with_index(&)
    return KumiSys.enum(self, :each_with_index, :size) unless block_given?
    KumiSys.counted(self, 0, &)
  end

  def each_with_object(memo)
    return KumiSys.enum(self, __called, :size, [memo]) unless block_given?
    each { |*vs| yield __pack(vs), memo }
    memo
  end
  alias with_object each_with_object

  def +(other)
    Chain.new(self, other)
  end

  # --- step by step ----------------------------------------------------------

  def next
    # The second and later elements, when nobody peeked: straight from where they come.
    if __same(@__look, nil) && __same(@__stop, nil)
      if (i = @__pos)
        __check_frozen(self)
        if i < __ary_len(@__recv)
          @__pos = i + 1
          return __ary_at(@__recv, i)
        end
      elsif @__fiber
        __check_frozen(self)
        begin
          vs = @__fiber.resume
        rescue Exception
          @__fiber = nil
          raise
        end
        return @__over ? KumiSys.enum_end(self, vs) : __pack(vs)
      end
    end
    __pack(next_values)
  end

  def peek
    __pack(peek_values)
  end

  def next_values
    __check_frozen(self)
    vs = peek_values
    @__look = nil
    vs
  end

  def peek_values
    __check_frozen(self)
    return @__look if @__look
    raise @__stop if @__stop
    if @__pos || (!@__fiber && __same(@__meth, :each) && __ary_plain(@__recv) && __builtin(self, :each) && @__args.empty?)
      i = @__pos || 0
      if i < __ary_len(@__recv)
        @__pos = i + 1
        return @__look = [__ary_at(@__recv, i)]
      end
      return KumiSys.enum_end(self, @__recv)
    elsif !@__fiber && __same(@__meth, :each) && KumiSys.int_range?(@__recv) && __builtin(self, :each)
      i = @__at || __range_lo(@__recv)
      hi = __range_hi(@__recv)
      if __same(hi, nil) || (__range_excl(@__recv) ? i < hi : i <= hi)
        @__at = i + 1
        return @__look = [i]
      end
      return KumiSys.enum_end(self, @__recv)
    end
    unless @__fiber
      @__over = false
      @__fiber = Fiber.new do
        r = each do |*vs|
          Fiber.yield(vs)
          fed = @__feed
          @__feed = nil
          fed ? __ary_at(fed, 0) : nil
        end
        @__over = true
        r
      end
    end
    begin
      vs = @__fiber.resume
    rescue Exception
      @__fiber = nil
      raise
    end
    return KumiSys.enum_end(self, vs) if @__over
    @__look = vs
  end

  def feed(value)
    raise TypeError, "feed value already set" if @__feed
    @__feed = [value]
    nil
  end

  def rewind
    __check_frozen(self)
    @__recv.rewind if @__recv.respond_to?(:rewind)
    @__look = @__stop = @__pos = @__at = @__fiber = @__feed = nil
    self
  end

  def inspect
    name = __describe_class(self)
    return "#<#{name}: uninitialized>" unless @__meth
    s = KumiSys.recursing(:inspect, self) do
      "#<#{name}: #{KumiSys.inspect(@__recv)}:#{@__meth}#{KumiSys.show_args(@__args, @__opts)}>"
    end
    s || "#<#{name}: ...>"
  end

  # Receives what a generator block yields.
  class Yielder
    def initialize(&block)
      raise LocalJumpError, "no block given" unless block
      @__block = block
    end

    def yield(*, **)
      @__block.call(*, **)
    end

    def <<(value)
      @__block.call(value)
      self
    end

    def to_proc
      block = @__block
      proc { |*args, **opts| block.call(*args, **opts) }
    end
  end

  # Makes a block that is given a yielder look like a collection.
  class Generator
    include Enumerable

    def initialize(code = nil, &block)
      if code
        unless __is_a(code, Proc)
          raise TypeError, "wrong argument type #{__describe_class(code)} (expected Proc)"
        end
        block = code
      end
      raise LocalJumpError, "no block given" unless block
      @__code = block
    end

    def initialize_copy(other)
      @__code = __ivar_get(other, :@__code)
      self
    end

    def each(*args, &block)
      raise LocalJumpError, "no block given (yield)" unless block
      @__code.call(Yielder.new(&block), *args)
    end
  end

  # Enumerator.produce: each value is made from the one before.
  class Producer
    include Enumerable

    def initialize(first, &block)
      @__first = first
      @__code = block
    end

    def each
      return self unless block_given?
      begin
        v = __ary_len(@__first) == 0 ? @__code.call : __ary_at(@__first, 0)
        while true
          yield v
          v = @__code.call(v)
        end
      rescue StopIteration => e
        e.result
      end
    end
  end

  # Several enumerables one after the other.
  class Chain
    def initialize(*enums)
      __check_frozen(self)
      @__enums = enums.freeze
      @__at = -1
      self
    end

    def initialize_copy(other)
      @__enums = __ivar_get(other, :@__enums)
      @__at = -1
      self
    end

    def each(*args, &block)
      raise ArgumentError, "uninitialized chain" unless @__enums
      unless block
        return self if __ary_len(args) == 0
        return to_enum(:each, *args) { size }
      end
      i = 0
      while i < __ary_len(@__enums)
        @__at = i
        __ary_at(@__enums, i).each(*args, &block)
        i += 1
      end
      self
    end

    def size
      total = 0
      @__enums.each do |e|
        n = KumiSys.size_of(e)
        return n if __same(n, nil) || (__is_a(n, Float) && n.infinite?)
        return nil unless __is_a(n, Integer)
        total += n
      end
      total
    end

    def rewind
      while @__at >= 0
        e = __ary_at(@__enums, @__at)
        e.rewind if e.respond_to?(:rewind)
        @__at -= 1
      end
      @__look = @__stop = @__fiber = @__feed = nil
      self
    end

    def +(other)
      Chain.new(self, other)
    end

    def dup
      Chain.new(*@__enums)
    end

    def inspect = KumiSys.inspect_parts(self)
  end

  # Every combination of one element of each enumerable.
  class Product
    def initialize(*enums, **opts)
      KumiSys.no_keywords(opts)
      __check_frozen(self)
      @__enums = enums.freeze
      self
    end

    def initialize_copy(other)
      return self if __same(self, other)
      __check_frozen(self)
      unless __same(__class(self), __class(other))
        raise TypeError, "initialize_copy should take same class object"
      end
      enums = __ivar_get(other, :@__enums)
      raise ArgumentError, "uninitialized product" unless enums
      @__enums = enums
      self
    end

    def each(&block)
      raise ArgumentError, "uninitialized product" unless @__enums
      return self unless block
      KumiSys.product_step(@__enums, 0, [], block)
      self
    end

    def size
      total = 1
      @__enums.each do |e|
        return nil unless e.respond_to?(:size)
        n = e.size
        return nil unless __is_a(n, Integer) || (__is_a(n, Float) && n.infinite?)
        return 0 if n == 0
        total *= n
      end
      total
    end

    def rewind
      @__enums.each { |e| e.rewind if e.respond_to?(:rewind) }
      @__look = @__stop = @__fiber = @__feed = nil
      self
    end

    def inspect = KumiSys.inspect_parts(self)
  end
end

module KumiSys
  NO_ARGS = [].freeze

  # enum.each with a number, counted from i, behind each element.
  def self.counted(enum, i)
    if single_values?(__ivar_get(enum, :@__recv), __ivar_get(enum, :@__meth))
      enum.__send__(:each) do |v|
        k = i
        i += 1
        yield v, k
      end
    else
      enum.__send__(:each) do |*vs|
        k = i
        i += 1
        yield __pack(vs), k
      end
    end
  end

  # Chain and Product have no keywords.
  def self.no_keywords(opts)
    return if __hash_len(opts) == 0
    names = opts.keys.map { |k| k.inspect }.join(", ")
    raise ArgumentError, "unknown keyword#{opts.size > 1 ? "s" : ""}: #{names}"
  end

  # How Chain and Product are shown: with what they are made of.
  def self.inspect_parts(enum)
    name = __describe_class(enum)
    parts = __ivar_get(enum, :@__enums)
    return "#<#{name}: uninitialized>" unless parts
    recursing(:inspect, enum) { "#<#{name}: [#{parts.map { |e| inspect(e) }.join(", ")}]>" } || "#<#{name}: ...>"
  end

  # What may be given as an enumerator's size: nil, something to call, infinity, or an Integer.
  def self.enum_size(size)
    __same(size, nil) || size.respond_to?(:call) || (__is_a(size, Float) && size == Float::INFINITY) ? size : to_int(size)
  end

  # What a method without its block returns. `size` as in the state above.
  def self.enum(recv, meth, size, args = nil)
    if __is_a(recv, Enumerator::Lazy)
      return recv.to_enum(meth, *args) unless size
      return recv.to_enum(meth, *args) { __same(size, :size) ? recv.size : KumiSys.__send__(size, recv, *args) }
    end
    enum_new(Enumerator, recv, meth, args || NO_ARGS, nil, size)
  end

  # enum.each with more arguments.
  def self.enum_with(enum, args, **opts)
    e = enum.dup
    __ivar_set(e, :@__args, __ivar_get(enum, :@__args) + args)
    was = __ivar_get(enum, :@__opts)
    __ivar_set(e, :@__opts, was ? was.merge(opts) : opts) unless __hash_len(opts) == 0
    __ivar_set(e, :@__size, nil)
    e
  end

  # Sizes of enumerators whose arguments say how many.
  def self.count_up(from, limit) = count_to(from, limit, 1)
  def self.count_down(from, limit) = count_to(from, limit, -1)
  def self.count_times(n) = n < 0 ? 0 : n
  def self.cycles(recv, n = nil) = cycle_size(size_of(recv), n)
  def self.slices(recv, n) = (s = size_of(recv)) && (s + n - 1).div(n)
  def self.conses(recv, n) = (s = size_of(recv)) && (s - n + 1 < 0 ? 0 : s - n + 1)

  def self.enum_new(type, recv, meth, args, opts, size)
    e = __allocate(type)
    __ivar_set(e, :@__recv, recv)
    __ivar_set(e, :@__meth, to_name(meth))
    __ivar_set(e, :@__args, args)
    __ivar_set(e, :@__opts, opts && __hash_len(opts) != 0 ? opts : nil)
    __ivar_set(e, :@__size, size)
    e
  end

  # A range of integers (or without end) that is walked as ours are.
  def self.int_range?(recv)
    return false unless __is_a(recv, Range) && __builtin(recv, :each) && __is_a(__range_lo(recv), Integer)
    __same(__range_hi(recv), nil) || __is_a(__range_hi(recv), Integer)
  end

  # Nothing is left: remembers and raises StopIteration.
  def self.enum_end(enum, result)
    stop = StopIteration.new("iteration reached an end")
    __ivar_set(stop, :@__result, result)
    __ivar_set(enum, :@__stop, stop)
    __ivar_set(enum, :@__fiber, nil)
    __ivar_set(enum, :@__pos, nil)
    __ivar_set(enum, :@__at, nil)
    raise stop
  end

  # The array of array.each, array.map, array.collect as they are defined here; nil otherwise.
  def self.plain_walk(recv, meth, enum)
    return nil unless __ary_plain(recv) && (__same(meth, :each) || __same(meth, :map) || __same(meth, :collect))
    __builtin(recv, meth) && __builtin(enum, :each) ? recv : nil
  end

  # Does recv.meth surely yield exactly one value each time?
  def self.single_values?(recv, meth)
    return false unless __ary_plain(recv) || __is_a(recv, Range) || __is_a(recv, Integer) || __is_a(recv, String)
    case meth
    when :each, :map, :collect, :select, :filter, :reject, :flat_map, :filter_map, :times, :upto, :downto, :each_char,
         :each_byte, :each_line, :map!, :collect!, :select!, :reject!, :sort_by, :min_by, :max_by, :group_by,
         :partition, :each_slice, :each_cons, :each_entry, :reverse_each, :find_index, :find
      __builtin(recv, meth)
    else
      false
    end
  end

  # "(1, a: 2)" for inspect.
  def self.show_args(args, opts)
    list = args.map { |a| inspect(a) }
    opts.each { |k, v| list << "#{k}: #{inspect(v)}" } if opts
    list.empty? ? "" : "(#{list.join(", ")})"
  end

  def self.product_step(enums, i, row, block)
    if i == __ary_len(enums)
      block.call(__ary_copy(row))
    else
      __ary_at(enums, i).each_entry do |v|
        product_step(enums, i + 1, row + [v], block)
      end
    end
  end
end
