# Marshal.load of what the native does not read itself (KumiSys::MarshalReader).
# What is read may be hostile: sizes are believed only as far as there are bytes.
# An object has its number before its parts are read; while it is not finished
# (`@partial`), who links to it gets it as it is, and the proc does not see it.
module KumiSys
  # Reads one object graph from a String or an IO.
  class MarshalReader
    def initialize(str, io, proc, freeze)
      @s = str
      @io = io
      @pos = 0
      @proc = proc
      @freeze = freeze ? true : false
      @symbols = []
      @objects = []
      @partial = {}.compare_by_identity
      @interned = {}
    end

    def start
      major = byte
      minor = byte
      return if major == 4 && minor == 8
      if major != 4 || minor > 8
        raise TypeError, "incompatible marshal file format (can't be read)\n" \
                         "\tformat version 4.8 required; #{major}.#{minor} given"
      end
      if $VERBOSE
        warn("incompatible marshal file format (can be read)\n" \
             "\tformat version 4.8 required; #{major}.#{minor} given")
      end
    end

    def byte
      if @s
        b = @s.getbyte(@pos)
        too_short if b.nil?
        @pos += 1
        b
      else
        b = @io.getbyte
        raise EOFError, "end of file reached" if b.nil?
        b
      end
    end

    def too_short
      raise ArgumentError, "marshal data too short"
    end

    def long
      c = byte
      c -= 256 if c > 127
      return 0 if c == 0
      return c - 5 if c > 4
      return c + 5 if c < -4
      n = c.abs
      x = c > 0 ? 0 : -1
      i = 0
      while i < n
        x &= ~(0xff << (8 * i))
        x |= byte << (8 * i)
        i += 1
      end
      x
    end

    def bytes
      n = long
      raw(n)
    end

    def raw(n)
      return "".b if n == 0
      too_short if n < 0
      if @s
        too_short if n > @s.bytesize - @pos
        b = @s.byteslice(@pos, n).b
        @pos += n
        b
      else
        b = @io.read(n)
        too_short if b.nil? || b.bytesize < n
        b.b
      end
    end

    # --- names -------------------------------------------------------------------

    def symbol
      wide = false
      while true
        t = byte
        case t
        when 73 then wide = true
        when 58 then return real_symbol(wide)
        when 59
          raise ArgumentError, "dump format error (symlink with encoding)" if wide
          return symbol_link
        else
          raise ArgumentError, format("dump format error for symbol(0x%x)", t)
        end
      end
    end

    def symbol_link
      i = long
      raise ArgumentError, "bad symbol" if i < 0 || i >= @symbols.size
      @symbols[i]
    end

    def real_symbol(wide)
      name = bytes
      at = @symbols.size
      @symbols << nil
      enc = name.ascii_only? ? Encoding::US_ASCII : Encoding::BINARY
      if wide
        long.times do
          key = symbol
          v = object
          enc = named_encoding(key, v) || enc
        end
      end
      name.force_encoding(enc)
      raise EncodingError, "invalid symbol in encoding #{enc} :#{name.inspect}" unless name.valid_encoding?
      @symbols[at] = name.to_sym
    end

    def named_encoding(key, v)
      case key
      when :E
        v == true ? Encoding::UTF_8 : v == false ? Encoding::US_ASCII : nil
      when :encoding
        begin
          Encoding.find(v)
        rescue ArgumentError
          raise ArgumentError, "encoding #{v} is not registered"
        end
      end
    end

    def module_at(path)
      path.name.split("::").inject(Object) do |m, part|
        # A constant of the very module only, as it was written.
        unless __is_a(m, Module) && part.match?(/\A[[:upper:]]/) && m.const_defined?(part, __same(m, Object))
          raise ArgumentError, "undefined class/module #{path}"
        end
        m.const_get(part, __same(m, Object))
      end
    end

    def class_at(path)
      c = module_at(path)
      raise ArgumentError, "#{path} does not refer to class" unless __is_a(c, Class)
      c
    end

    # --- bookkeeping ----------------------------------------------------------------

    def entry(x)
      @objects << x
      x
    end

    def started(x)
      @objects << x
      @partial[x] = true
      x
    end

    # Every finished object passes here: frozen when asked for, then shown to the proc.
    def leave(x, partial)
      return x if partial
      @partial.delete(x)
      if @freeze
        unless __is_a(x, Module)
          if __same(__class(x), String) && __marshal_ivars(x).empty?
            at = @objects.rindex { |o| __same(o, x) }
            kept = @interned[[x, x.encoding]]
            if kept
              @objects[at] = kept if at
              x = kept
            else
              __freeze(x)
              @interned[[x, x.encoding]] = x
            end
          else
            __freeze(x)
          end
        end
      end
      shown(x)
    end

    def shown(x)
      return x if @proc.nil?
      v = @proc.call(x)
      unless __same(v, x)
        at = @objects.rindex { |o| __same(o, x) }
        @objects[at] = v if at && !__is_a(x, Integer) && !x.nil?
      end
      v
    end

    # Reads the variables of an `I` object into x.
    def ivars(x)
      long.times do
        name = symbol
        v = object
        if __is_a(x, String) || __is_a(x, Regexp)
          enc = named_encoding(name, v)
          if enc
            x.force_encoding(enc) unless __is_a(x, Regexp)
            next
          end
          unless name.start_with?("@")
            __ivar_set(x, name, v)
            next
          end
        end
        set_ivar(x, name, v)
      end
    end

    def set_ivar(x, name, v)
      if name.start_with?("@")
        if name == :@hash && __is_a(x, Set) && __is_a(v, Hash)
          v.default = nil unless v.frozen?
          __ivar_set(x, :@__h, v.frozen? ? __hash_copy(v) : v)
        else
          x.instance_variable_set(name, v)
        end
      elsif __is_a(x, String)
        # What a _dump hung on its text: Time's offset and zone.
        __ivar_set(x, name, v)
      elsif __is_a(x, Exception)
        case name
        when :mesg then __ivar_set(x, :@__message, v)
        when :bt then __ivar_set(x, :@__backtrace, v) unless v.nil?
        when :name then __ivar_set(x, :@__name, v)
        when :cause then __ivar_set(x, :@__cause, v)
        end
      end
    end

    # --- objects -----------------------------------------------------------------------

    def object = typed(byte, false, nil, nil)

    # `vars`: an Array whose first element tells that variables follow; who reads them clears it.
    def typed(type, partial, vars, mods)
      case type
      when 48 then leave(nil, false)
      when 84 then leave(true, false)
      when 70 then leave(false, false)
      when 105 then leave(long, false)
      when 64 then link
      when 58
        s = real_symbol(vars && vars[0])
        vars[0] = false if vars
        leave(s, false)
      when 59 then symbol_link
      when 73
        follow = [true]
        x = typed(byte, true, follow, mods)
        ivars(x) if follow[0]
        leave(x, partial)
      when 101
        m = module_at(symbol)
        raise ArgumentError, "#{m} does not refer to module" if __is_a(m, Class) || !__is_a(m, Module)
        typed(byte, partial, vars, (mods || []) << m)
      when 67 then subclass(partial, vars, mods)
      when 102 then leave(entry(float(bytes)), false)
      when 108 then leave(entry(big), false)
      when 34
        s = entry(bytes)
        extend_all(s, mods)
        leave(s, partial)
      when 47 then regexp(partial, vars, mods)
      when 91
        a = started([])
        n = long
        i = 0
        while i < n
          a << object
          i += 1
        end
        extend_all(a, mods)
        leave(a, partial)
      when 123, 125 then hash(type, partial, mods)
      when 83 then struct(partial, mods)
      when 117 then user_defined(vars)
      when 85 then user_marshal(mods)
      when 111
        klass = class_at(symbol)
        return range(klass, partial) if __marshal_instance(klass) == :range
        x = allocate_for(klass)
        started(x)
        extend_all(x, mods)
        long.times do
          name = symbol
          set_ivar(x, name, object)
        end
        leave(x, partial)
      when 100
        klass = class_at(symbol)
        raise ArgumentError, "dump format error" if __marshal_instance(klass) == :object
        x = __allocate(klass)
        started(x)
        unless answers?(x, :_load_data)
          raise TypeError, "class #{klass} needs to have instance method '_load_data'"
        end
        x._load_data(object)
        leave(x, partial)
      when 99 then leave(entry(class_at(bytes.force_encoding("UTF-8").to_sym)), partial)
      when 109
        name = bytes.force_encoding("UTF-8").to_sym
        m = module_at(name)
        raise ArgumentError, "#{name} does not refer to module" if __is_a(m, Class)
        leave(entry(m), partial)
      when 77 then leave(entry(module_at(bytes.force_encoding("UTF-8").to_sym)), partial)
      else
        raise ArgumentError, format("dump format error(0x%x)", type)
      end
    end

    def answers?(x, mid) = KumiSys.answers?(x, mid)

    def link
      i = long
      raise ArgumentError, "dump format error (unlinked)" if i < 0 || i >= @objects.size
      x = @objects[i]
      return x if @partial[x]
      shown_link(x)
    end

    def shown_link(x)
      @proc.nil? ? x : @proc.call(x)
    end

    def extend_all(x, mods)
      return unless mods
      x.extend(mods.pop) until mods.empty?
    end

    def allocate_for(klass)
      raise ArgumentError, "dump format error" unless __marshal_instance(klass) == :object
      __allocate(klass)
    end

    # A range is made when its ends are known.
    def range(klass, partial)
      at = @objects.size
      entry(nil)
      parts = {}
      extra = []
      long.times do
        name = symbol
        name.start_with?("@") ? extra.push([name, object]) : parts[name] = object
      end
      x = __marshal_range(klass, parts[:begin], parts[:end], parts[:excl] ? true : false)
      @objects[at] = x
      extra.each { |name, v| __ivar_set(x, name, v) }
      leave(x, partial)
    end

    def float(s)
      case s
      when "nan" then Float::NAN
      when "inf" then Float::INFINITY
      when "-inf" then -Float::INFINITY
      else s.to_f
      end
    end

    def big
      sign = byte
      n = long
      b = raw(n < 0 ? -1 : n * 2)
      __marshal_big_value(b, sign == 45)
    end

    def subclass(partial, vars, mods)
      klass = class_at(symbol)
      type = byte
      if __same(klass, Hash) && (type == 123 || type == 125)
        return hash(type, partial, mods, true)
      end
      x = typed(type, true, vars, nil)
      unless __marshal_set_class(x, klass)
        raise ArgumentError, "dump format error (user class)"
      end
      extend_all(x, mods)
      leave(x, partial)
    end

    def hash(type, partial, mods, identity = false)
      h = started({})
      h.compare_by_identity if identity
      n = long
      i = 0
      while i < n
        k = object
        v = object
        KumiSys.hash_put(h, k, v)
        i += 1
      end
      h.default = object if type == 125
      extend_all(h, mods)
      leave(h, partial)
    end

    def struct(partial, mods)
      klass = class_at(symbol)
      unless __marshal_instance(klass) == :struct
        raise TypeError, "class #{klass} not a struct"
      end
      x = __allocate(klass)
      started(x)
      names = __struct_members(klass)
      n = long
      raise TypeError, "struct #{klass} not compatible (struct size differs)" unless n == names.size
      i = 0
      while i < n
        name = symbol
        unless __same(name, names[i])
          raise TypeError, "struct #{klass} not compatible (:#{name} for :#{names[i]})"
        end
        __struct_set(x, i, object)
        i += 1
      end
      extend_all(x, mods)
      __freeze(x) if __is_a(x, Data)
      leave(x, partial)
    end

    def regexp(partial, vars, mods)
      source = bytes
      options = byte
      at = @objects.size
      if vars && vars[0]
        extra = []
        long.times do
          name = symbol
          v = object
          enc = named_encoding(name, v)
          enc ? source.force_encoding(enc) : extra << name << v
        end
        vars[0] = false
      end
      r = Regexp.new(source, options & ~16)
      @objects.insert(at, r)
      extra&.each_slice(2) { |name, v| r.instance_variable_set(name, v) }
      extend_all(r, mods)
      leave(r, partial)
    end

    def user_defined(vars)
      klass = class_at(symbol)
      data = bytes
      if vars && vars[0]
        ivars(data)
        vars[0] = false
      end
      unless __responds(klass, :_load) || answers?(klass, :_load)
        raise TypeError, "class #{klass} needs to have method '_load'"
      end
      x = klass.__send__(:_load, data)
      # Later references to it are not shown to the proc again.
      started(x)
      __freeze(x) if @freeze && !__is_a(x, Module)
      shown(x)
    end

    def user_marshal(mods)
      klass = class_at(symbol)
      if __same(klass, Rational) || __same(klass, Complex)
        at = @objects.size
        entry(nil)
        a = object
        unless __is_a(a, Array) && a.size == 2
          raise ArgumentError, "marshaled #{klass.name.downcase} must have an array whose length is 2"
        end
        x = __same(klass, Rational) ? Rational(a[0], a[1]) : Complex(a[0], a[1])
        @objects[at] = x
        return shown(x)
      end
      x = __allocate(klass)
      extend_all(x, mods)
      unless __responds(x, :marshal_load) || answers?(x, :marshal_load)
        raise TypeError, "instance of #{klass} needs to have method 'marshal_load'"
      end
      started(x)
      data = object
      x.__send__(:marshal_load, data)
      __freeze(x) if @freeze
      shown(x)
    end
  end
end
