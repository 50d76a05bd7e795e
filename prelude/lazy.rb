# Enumerator::Lazy: each stage runs the one before and passes on what it keeps.
#
# Hidden state besides Enumerator's: @__run, a proc that iterates, given the block
# of the next stage; @__parent, @__meth and @__args for inspect.
class Enumerator
  class Lazy
    def initialize(source = __undef, size = nil, &block)
      raise ArgumentError, "wrong number of arguments (given 0, expected 1..2)" if __undef?(source)
      raise ArgumentError, "tried to call lazy new without a block" unless block
      __check_frozen(self)
      @__parent = source
      @__size = size
      @__run = proc do |emit|
        y = Yielder.new(&emit)
        source.__send__(:each) { |*vs| block.call(y, *vs) }
      end
      self
    end

    def initialize_copy(other)
      raise TypeError, "can't copy execution context" if __ivar_get(other, :@__fiber)
      @__parent = __ivar_get(other, :@__parent)
      @__size = __ivar_get(other, :@__size)
      @__run = __ivar_get(other, :@__run)
      @__meth = __ivar_get(other, :@__meth)
      @__args = __ivar_get(other, :@__args)
      self
    end

    def each(*args, &block)
      raise ArgumentError, "uninitialized lazy" unless @__run
      return self unless block
      __ary_len(args) == 0 ? @__run.call(block) : @__run.call(block, args)
    end

    def size
      s = @__size
      s.respond_to?(:call) ? s.call : s
    end

    def rewind
      @__parent.rewind if @__parent.respond_to?(:rewind)
      @__look = @__stop = @__fiber = @__feed = nil
      self
    end

    def lazy
      self
    end

    def force(*args)
      to_a(*args)
    end

    def first(n = __undef)
      if __undef?(n)
        each { |*a| return __pack(a) }
        return nil
      end
      take(n).to_a
    end

    def eager
      me = self
      KumiSys.enum_new(Enumerator, self, :each, [], nil, proc { me.size })
    end

    def to_enum(meth = :each, *args, **opts, &size)
      source = self
      eager = KumiSys.eager_method(meth)
      KumiSys.lazy(self, meth, args, size && proc { size.call(*args) }) do |emit|
        if eager
          eager.bind_call(source, *args, **opts, &emit)
        else
          source.__send__(meth, *args, **opts, &emit)
        end
      end
    end
    alias enum_for to_enum

    def map(&block)
      raise ArgumentError, "tried to call lazy map without a block" unless block
      KumiSys.lazy_map(self, :map, block)
    end
    alias collect map

    def select(&block)
      KumiSys.lazy_select(self, :select, block)
    end
    alias find_all select
    alias filter select

    def reject(&block)
      raise ArgumentError, "tried to call lazy reject without a block" unless block
      source = self
      KumiSys.lazy(self, :reject, []) do |emit|
        source.__send__(:each) do |*vs|
          v = __pack(vs)
          emit.call(v) unless block.call(v)
        end
      end
    end

    def filter_map(&block)
      raise ArgumentError, "tried to call lazy filter_map without a block" unless block
      source = self
      KumiSys.lazy(self, :filter_map, []) do |emit|
        source.__send__(:each) do |*vs|
          __ary_push(vs, nil) if __ary_len(vs) == 0
          v = block.call(*vs)
          emit.call(v) if v
        end
      end
    end

    def flat_map(&block)
      raise ArgumentError, "tried to call lazy flat_map without a block" unless block
      KumiSys.lazy_flat_map(self, :flat_map, block)
    end
    alias collect_concat flat_map

    def grep(pattern, &block) = KumiSys.lazy_grep(self, :grep, pattern, true, block)
    def grep_v(pattern, &block) = KumiSys.lazy_grep(self, :grep_v, pattern, false, block)

    def compact
      source = self
      KumiSys.lazy(self, :compact, []) do |emit|
        source.__send__(:each) do |*vs|
          v = __pack(vs)
          emit.call(v) unless __same(v, nil)
        end
      end
    end

    def take(n)
      n = KumiSys.to_long(n)
      raise ArgumentError, "attempt to take negative size" if n < 0
      source = self
      size = proc do
        s = source.size
        s && (s < n ? s : n)
      end
      KumiSys.lazy(self, :take, [n], n == 0 ? 0 : size) do |emit|
        left = n
        if left > 0
          source.__send__(:each) do |*vs|
            left -= 1
            emit.call(__pack(vs))
            break if left == 0
          end
        end
      end
    end

    def take_while(&block)
      raise ArgumentError, "tried to call lazy take_while without a block" unless block
      source = self
      KumiSys.lazy(self, :take_while, []) do |emit|
        source.__send__(:each) do |*vs|
          __ary_push(vs, nil) if __ary_len(vs) == 0
          break unless block.call(*vs)
          emit.call(__pack(vs))
        end
      end
    end

    def drop(n)
      n = KumiSys.to_long(n)
      raise ArgumentError, "attempt to drop negative size" if n < 0
      source = self
      size = proc do
        s = source.size
        s && (s > n ? s - n : 0)
      end
      KumiSys.lazy(self, :drop, [n], size) do |emit|
        left = n
        source.__send__(:each) do |*vs|
          if left > 0
            left -= 1
          else
            emit.call(__pack(vs))
          end
        end
      end
    end

    def drop_while(&block)
      raise ArgumentError, "tried to call lazy drop_while without a block" unless block
      source = self
      KumiSys.lazy(self, :drop_while, []) do |emit|
        dropping = true
        source.__send__(:each) do |*vs|
          __ary_push(vs, nil) if __ary_len(vs) == 0
          dropping = false if dropping && !block.call(*vs)
          emit.call(__pack(vs)) unless dropping
        end
      end
    end

    def uniq(&block)
      source = self
      KumiSys.lazy(self, :uniq, []) do |emit|
        seen = {}
        source.__send__(:each) do |*vs|
          k = block ? block.call(__pack(vs)) : __pack(vs)
          unless seen.key?(k)
            seen[k] = true
            emit.call(__pack(vs))
          end
        end
      end
    end

    def with_index(offset = 0, &block)
      KumiSys.lazy_with_index(self, :with_index, __same(offset, nil) ? 0 : KumiSys.to_long(offset), [offset], block)
    end

    def each_with_index(&block)
      KumiSys.lazy_with_index(self, :each_with_index, 0, [], block)
    end

    def zip(*others, &block)
      return super if block
      others.each do |o|
        unless o.respond_to?(:each)
          raise TypeError, "wrong argument type #{__describe_class(o)} (must respond to :each)"
        end
      end
      source = self
      KumiSys.lazy(self, :zip, others, proc { source.size }) do |emit|
        lists = others.map { |o| KumiSys.try_ary(o) || o.to_enum(:each) }
        n = 0
        source.__send__(:each) do |*vs|
          row = KumiSys.zip_row(__pack(vs), lists, n)
          n += 1
          emit.call(*row)
        end
      end
    end

    def chunk(&block)
      block ? super(&block).lazy : super
    end

    def chunk_while(&block)
      super(&block).lazy
    end

    def slice_when(&block)
      super(&block).lazy
    end

    def slice_before(*args, &block)
      super(*args, &block).lazy
    end

    def slice_after(*args, &block)
      super(*args, &block).lazy
    end

    def chain(*others)
      super(*others).lazy
    end

    def +(other)
      super(other).lazy
    end

    def inspect
      return "#<Enumerator::Lazy: uninitialized>" unless @__run
      s = KumiSys.recursing(:inspect, self) do
        tail = @__meth ? ":#{@__meth}#{KumiSys.show_args(@__args, nil)}" : ""
        "#<#{__describe_class(self)}: #{KumiSys.inspect(@__parent)}#{tail}>"
      end
      s || "#<#{__describe_class(self)}: ...>"
    end
  end
end

module KumiSys
  # What a method that is lazy itself does when it iterates; nil for others.
  def self.eager_method(meth)
    case meth
    when :with_index, :each_with_index
      Enumerator.instance_method(meth)
    when :map, :collect, :flat_map, :collect_concat, :select, :find_all, :filter, :filter_map, :reject, :grep, :grep_v,
         :zip, :take, :take_while, :drop, :drop_while, :uniq
      Enumerable.instance_method(meth)
    end
  end

  # A lazy stage over parent; the block runs it, given the block of the next stage.
  def self.lazy(parent, meth, args, size = nil, &run)
    l = __allocate(Enumerator::Lazy)
    __ivar_set(l, :@__parent, parent)
    __ivar_set(l, :@__meth, meth)
    __ivar_set(l, :@__args, args)
    __ivar_set(l, :@__size, size)
    __ivar_set(l, :@__run, run)
    # What a stage passes on is one value, except where it passes everything on.
    __ivar_set(l, :@__one, !__same(meth, nil) && lazy_single?(meth))
    l
  end

  def self.lazy_single?(meth)
    case meth
    when :map, :collect, :select, :filter, :find_all, :reject, :filter_map, :flat_map, :collect_concat, :grep, :grep_v,
         :compact, :take, :take_while, :drop, :drop_while, :uniq
      true
    else
      false
    end
  end

  def self.lazy_map(source, name, block)
    one = single?(source)
    lazy(source, name, [], proc { source.size }) do |emit|
      if one
        source.__send__(:each) { |v| emit.call(block.call(v)) }
      else
        source.__send__(:each) do |*vs|
          __ary_push(vs, nil) if __ary_len(vs) == 0
          emit.call(block.call(*vs))
        end
      end
    end
  end

  def self.lazy_select(source, name, block)
    raise ArgumentError, "tried to call lazy select without a block" unless block
    one = single?(source)
    lazy(source, name, []) do |emit|
      if one
        source.__send__(:each) { |v| emit.call(v) if block.call(v) }
      else
        source.__send__(:each) do |*vs|
          v = __pack(vs)
          emit.call(v) if block.call(v)
        end
      end
    end
  end

  def self.lazy_grep(source, name, pattern, wanted, block)
    lazy(source, name, [pattern]) do |emit|
      source.__send__(:each) do |*vs|
        v = __pack(vs)
        emit.call(block ? block.call(v) : v) if (pattern === v) ? wanted : !wanted
      end
    end
  end

  def self.lazy_flat_map(source, name, block)
    lazy(source, name, []) do |emit|
      source.__send__(:each) do |*vs|
        __ary_push(vs, nil) if __ary_len(vs) == 0
        r = block.call(*vs)
        if __is_a(r, Array)
          r.each { |v| emit.call(v) }
        elsif r.respond_to?(:force) && r.respond_to?(:each)
          r.each { |v| emit.call(v) }
        elsif (a = try_ary(r))
          a.each { |v| emit.call(v) }
        else
          emit.call(r)
        end
      end
    end
  end

  def self.lazy_with_index(source, name, offset, args, block)
    lazy(source, name, args, proc { source.size }) do |emit|
      i = offset
      source.__send__(:each) do |*vs|
        v = __pack(vs)
        k = i
        i += 1
        if block
          block.call(v, k)
          emit.call(v)
        else
          emit.call(v, k)
        end
      end
    end
  end
end
