# Marshal.dump of what the native does not write itself (KumiSys::MarshalWriter).
# An object has its number before its parts are written, so that a part can refer to it.
module KumiSys
  # Writes one object graph.
  class MarshalWriter
    # Ruby objects here, but no plain ones in CRuby: they cannot be written.
    NO_DATA = %w[Thread::Mutex Thread::Queue Thread::ConditionVariable Enumerator StringIO StringScanner Monitor].freeze

    attr_reader :out

    def initialize
      @out = "\x04\x08".b
      @symbols = {}
      @objects = {}.compare_by_identity
    end

    def object(x, limit)
      case x
      when nil then @out << "0"
      when true then @out << "T"
      when false then @out << "F"
      else
        raise ArgumentError, "exceed depth limit" if limit == 0
        return symbol(x) if __is_a(x, Symbol)
        if __is_a(x, Integer) && x < 1073741824 && x >= -1073741824
          @out << "i"
          __marshal_long(@out, x)
          return
        end
        at = @objects[x]
        if at
          @out << "@"
          __marshal_long(@out, at)
        else
          any(x, limit < 0 ? limit : limit - 1)
        end
      end
    end

    def remember(x)
      @objects[x] = @objects.size
    end

    def long(n) = __marshal_long(@out, n)

    def bytes(s)
      long(s.bytesize)
      __marshal_raw(@out, s)
    end

    def symbol(s)
      at = @symbols[s]
      if at
        @out << ";"
        return long(at)
      end
      name = s.name
      wide = !name.ascii_only?
      @out << "I" if wide
      @out << ":"
      bytes(name)
      @symbols[s] = @symbols.size
      encoding(name, 0) if wide
    end

    # The count of variables that follow an `I` object, and the one that tells its encoding.
    def encoding(s, more)
      enc = s.encoding
      if enc == Encoding::BINARY
        long(more)
      else
        long(more + 1)
        if enc == Encoding::UTF_8
          symbol(:E)
          @out << "T"
        elsif enc == Encoding::US_ASCII
          symbol(:E)
          @out << "F"
        else
          symbol(:encoding)
          name = enc.name
          at = @objects[name]
          if at
            @out << "@"
            long(at)
          else
            @out << '"'
            bytes(name)
            remember(name)
          end
        end
      end
    end

    def ivars(list, limit)
      i = 0
      while i < list.size
        symbol(list[i])
        object(list[i + 1], limit)
        i += 2
      end
    end

    def class_name(klass)
      name = __class_path(klass)
      if name.nil?
        kind = __is_a(klass, Class) ? "class" : "module"
        raise TypeError, "can't dump anonymous #{kind} #{klass.inspect}"
      end
      found = begin
        Object.const_get(name)
      rescue NameError
        nil
      end
      raise TypeError, "#{name} can't be referred to" unless __same(found, klass)
      name.to_sym
    end

    # Modules that extend x alone, then its class.
    def extended(x)
      bad, *mods = __marshal_extended(x)
      raise TypeError, "singleton can't be dumped" if bad
      mods.each do |m|
        @out << "e"
        name = __class_path(m)
        raise TypeError, "can't dump anonymous class #{m.inspect}" if name.nil?
        symbol(name.to_sym)
      end
    end

    def header(type, x)
      extended(x)
      @out << type
      symbol(class_name(__class(x)))
    end

    # Notes a subclass of a core class.
    def user_class(x, core)
      extended(x)
      return if __same(__class(x), core)
      @out << "C"
      symbol(class_name(__class(x)))
    end

    def any(x, limit)
      if __responds(x, :marshal_dump)
        remember(x)
        v = x.__send__(:marshal_dump)
        @out << "U"
        symbol(class_name(__class(x)))
        return object(v, limit)
      end
      return user_defined(x, limit) if __responds(x, :_dump)
      remember(x)
      if __is_a(x, Module)
        raise TypeError, "singleton class can't be dumped" if __is_a(x, Class) && x.singleton_class?
        name = class_name(x).name
        wide = !name.ascii_only?
        @out << "I" if wide
        @out << (__is_a(x, Class) ? "c" : "m")
        bytes(name)
        encoding(name, 0) if wide
        return
      end
      case __marshal_kind(x)
      when :object then return plain_object(x, limit)
      when :range
        header("o", x)
        long(3)
        ivars([:excl, x.exclude_end?, :begin, x.begin, :end, x.end], limit)
        return
      when :rational
        @out << "U"
        symbol(:Rational)
        return object([x.numerator, x.denominator], limit)
      when :complex
        @out << "U"
        symbol(:Complex)
        return object([x.real, x.imaginary], limit)
      when :float
        @out << "f"
        return bytes(__marshal_float(x))
      when :big
        @out << "l"
        return __marshal_big(@out, x)
      end
      vars = __marshal_ivars(x)
      case __marshal_kind(x)
      when :string
        encoded = x.encoding != Encoding::BINARY
        @out << "I" if encoded || !vars.empty?
        user_class(x, String)
        @out << '"'
        bytes(x)
        if encoded || !vars.empty?
          encoding(x, vars.size / 2)
          ivars(vars, limit)
        end
        return
      when :regexp
        source = x.source.b.force_encoding(x.encoding)
        encoded = source.encoding != Encoding::BINARY || !vars.empty?
        @out << "I" if encoded
        user_class(x, Regexp)
        @out << "/"
        bytes(source)
        @out << (x.options & 7 | (x.fixed_encoding? ? 16 : 0) | (x.options & 32)).chr
        if encoded
          encoding(source, vars.size / 2)
          ivars(vars, limit)
        end
        return
      end
      @out << "I" unless vars.empty?
      case __marshal_kind(x)
      when :array
        user_class(x, Array)
        @out << "["
        long(x.size)
        i = 0
        n = x.size
        while i < n
          object(x[i], limit)
          i += 1
        end
      when :hash then hash(x, limit)
      when :struct
        header("S", x)
        names = __struct_members(x)
        long(names.size)
        names.each_with_index do |m, i|
          symbol(m)
          object(__struct_get(x, i), limit)
        end
      else
        raise TypeError, "instance of #{__class(x)} can't be dumped" if __is_a(x, IO)
        raise TypeError, "no _dump_data is defined for class #{__class(x)}"
      end
      unless vars.empty?
        long(vars.size / 2)
        ivars(vars, limit)
      end
    end

    def hash(x, limit)
      raise TypeError, "can't dump hash with default proc" if x.default_proc
      user_class(x, Hash)
      if x.compare_by_identity?
        @out << "C"
        symbol(:Hash)
      end
      default = __is_a(x, Hash) ? __hash_default(x) : nil
      @out << (default.nil? ? "{" : "}")
      x = __hash_view(x)
      long(__hash_len(x))
      i = -1
      while i = __hash_next(x, i)
        object(__hash_key(x, i), limit)
        object(__hash_val(x, i), limit)
      end
      object(default, limit) unless default.nil?
    end

    def plain_object(x, limit)
      if NO_DATA.any? { |n| Object.const_defined?(n) && __is_a(x, Object.const_get(n)) }
        raise TypeError, "no _dump_data is defined for class #{__class(x)}"
      end
      header("o", x)
      vars = __marshal_ivars(x)
      if __is_a(x, Exception)
        own = [:mesg, __exc_field(x, :@__message), :bt, x.backtrace]
        own.push(:name, x.name) if __is_a(x, NameError)
        own.push(:cause, x.cause) if x.cause
        vars = own + vars
      elsif __is_a(x, Set)
        h = __hash_copy(KumiSys.set_hash(x))
        h.default = false
        vars = [:@hash, h] + vars
      end
      long(vars.size / 2)
      ivars(vars, limit)
    end

    def __exc_field(x, name)
      v = __ivar_get(x, name)
      __undef?(v) ? nil : v
    end

    def user_defined(x, limit)
      v = x.__send__(:_dump, limit)
      raise TypeError, "_dump() must return string" unless __is_a(v, String)
      vars = __marshal_ivars(v)
      encoded = v.encoding != Encoding::BINARY
      more = encoded || !vars.empty?
      @out << "I" if more
      @out << "u"
      symbol(class_name(__class(x)))
      bytes(v)
      if more
        encoding(v, vars.size / 2)
        ivars(vars, limit)
      end
      remember(x)
    end
  end
end
