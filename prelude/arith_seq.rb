# Enumerator::ArithmeticSequence: begin, end and step of Range#step and Numeric#step.
class Enumerator
  class ArithmeticSequence
    def begin
      @__lo
    end

    def end
      @__hi
    end

    def step
      @__step
    end

    def exclude_end?
      @__excl
    end

    def first(n = __undef)
      if __undef?(n)
        return @__lo if __same(@__hi, nil)
        return nil if @__step < 0 ? @__hi > @__lo : @__lo > @__hi
        return nil if @__excl && @__lo == @__hi
        return @__lo
      end
      n = KumiSys.to_long(n)
      raise ArgumentError, "attempt to take negative size" if n < 0
      KumiSys.take(self, n)
    end

    def last(n = __undef)
      if __same(@__hi, nil)
        raise RangeError, "cannot get the last element of endless arithmetic sequence"
      end
      if KumiSys.any_float?(@__lo, @__hi, @__step)
        a = to_a
        return __undef?(n) ? a.last : a.last(n)
      end
      count = size
      if __undef?(n)
        return nil if count == 0
        return @__lo + (count - 1) * @__step
      end
      n = KumiSys.to_int(n)
      raise ArgumentError, "negative array size" if n < 0
      n = count if n > count
      Array.new(n) { |i| @__lo + (count - n + i) * @__step }
    end

    def size
      if KumiSys.any_float?(@__lo, @__hi, @__step)
        if __same(@__hi, nil)
          hi = @__step < 0 ? -Float::INFINITY : Float::INFINITY
        else
          hi = @__hi.to_f
        end
        return __flo_steps(@__lo.to_f, hi, @__step.to_f, @__excl)
      end
      return Float::INFINITY if __same(@__hi, nil)
      return Float::INFINITY if @__step == 0
      n = (@__hi - @__lo).div(@__step)
      return 0 if n < 0
      @__excl && @__lo + n * @__step == @__hi ? n : n + 1
    end

    def each
      return self unless block_given?
      v = @__lo
      by = @__step
      if KumiSys.any_float?(@__lo, @__hi, by)
        KumiSys.float_step(@__lo, @__hi, by, @__excl) { |f| yield f }
      elsif __same(@__hi, nil)
        while true
          yield v
          v += by
        end
      elsif by == 0
        while true
          yield v
        end
      elsif by < 0
        hi = @__hi
        if @__excl
          while v > hi
            yield v
            v += by
          end
        else
          while v >= hi
            yield v
            v += by
          end
        end
      else
        hi = @__hi
        if @__excl
          while v < hi
            yield v
            v += by
          end
        else
          while v <= hi
            yield v
            v += by
          end
        end
      end
      self
    end

    def ==(other)
      __is_a(other, ArithmeticSequence) && @__lo == other.begin && @__hi == other.end &&
        @__step == other.step && @__excl == other.exclude_end?
    end

    def ===(other)
      self == other
    end

    def eql?(other)
      self == other
    end

    def hash
      [@__excl, @__lo, @__hi, @__step].hash
    end

    def rewind
      @__look = @__stop = @__fiber = nil
      self
    end

    def inspect
      recv = __is_a(@__recv, Range) ? "(#{@__recv.inspect})" : @__recv.inspect
      "(#{recv}.#{@__meth}#{KumiSys.show_args(@__args, @__opts)})"
    end

    def to_s
      inspect
    end
  end
end

module KumiSys
  def self.arith_seq(lo, hi, step, excl, recv, meth, args, opts = nil)
    s = __arith_new
    __ivar_set(s, :@__lo, lo)
    __ivar_set(s, :@__hi, hi)
    __ivar_set(s, :@__step, step)
    __ivar_set(s, :@__excl, excl)
    __ivar_set(s, :@__recv, recv)
    __ivar_set(s, :@__meth, meth)
    __ivar_set(s, :@__args, args)
    __ivar_set(s, :@__opts, opts)
    s
  end

  def self.any_float?(a, b, c)
    __is_a(a, Float) || __is_a(b, Float) || __is_a(c, Float)
  end
end
