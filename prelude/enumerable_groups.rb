# Enumerable: groups of neighbours, and rounds over all. What gives back an enumerator reads its source when it is read itself, a group at a time.
module Enumerable
  def each_slice(n)
    n = KumiSys.to_long(n)
    raise ArgumentError, "invalid slice size" if n <= 0
    return KumiSys.enum(self, :each_slice, :slices, [n]) unless block_given?
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
    return KumiSys.enum(self, :each_cons, :conses, [n]) unless block_given?
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
    return KumiSys.enum(self, :cycle, :cycles, __same(n, nil) ? nil : [n]) unless block_given?
    unless __same(n, nil)
      n = KumiSys.to_long(n)
      return nil if n <= 0
    end
    list = __ary_new
    lax = __block_literal ? nil : KumiSys.lax(__block_proc)
    each do |*a|
      a = __rest(a)
      __ary_push(list, a)
      (lax || __ary_len(a) == 0 ? yield(*KumiSys.fit(lax, a)) : yield(__pack(a)))
    end
    return nil if __ary_len(list) == 0
    while __same(n, nil) || (n -= 1) > 0
      i = 0
      while i < __ary_len(list)
        a = __ary_at(list, i)
        (lax || __ary_len(a) == 0 ? yield(*KumiSys.fit(lax, a)) : yield(__pack(a)))
        i += 1
      end
    end
    nil
  end

  def chunk(&block)
    return KumiSys.enum(self, :chunk, :size_of) unless block
    source = self
    Enumerator.new do |y|
      key = nil
      part = nil
      source.__send__(:each) do |*a|
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
    KumiSys.arity_error(0, 1, 1) if __undef?(pattern) && !block
    KumiSys.arity_error(1, 0, 0) if !__undef?(pattern) && block
    source = self
    Enumerator.new do |y|
      part = nil
      source.__send__(:each) do |*a|
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
    KumiSys.arity_error(0, 1, 1) if __undef?(pattern) && !block
    raise ArgumentError, "both pattern and block are given" if !__undef?(pattern) && block
    source = self
    Enumerator.new do |y|
      part = nil
      source.__send__(:each) do |*a|
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
end

module KumiSys
  # An enumerator of runs of neighbours, cut where the block is true of two.
  def self.cut_between(source, &cut)
    Enumerator.new do |y|
      part = nil
      last = nil
      source.__send__(:each) do |*a|
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
