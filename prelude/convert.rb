# Implicit conversions, comparison and recursion guards for the whole prelude,
# with the messages Ruby users know. Nothing here is visible to Ruby programs:
# KumiSys is a private constant of Object.
module KumiSys
  # Calls x.mid when x has it (by definition, respond_to? or method_missing);
  # the hidden undef value when it has not.
  def self.check_call(x, mid)
    if __responds(x, :respond_to?) && !__builtin(x, :respond_to?)
      return __undef unless ask_respond_to(x, mid)
    end
    return x.__send__(mid) if __responds(x, mid)
    return __undef if __builtin(x, :method_missing)
    asked = __responds(x, :respond_to_missing?) && !__builtin(x, :respond_to_missing?)
    return __undef if asked && !x.__send__(:respond_to_missing?, mid, true)
    begin
      x.__send__(:method_missing, mid)
    rescue NoMethodError => e
      raise if asked || !__same(e.name, mid)
      __undef
    end
  end

  # A user's respond_to? may take one argument or two.
  def self.ask_respond_to(x, mid)
    arity = __method_arity(x, :respond_to?)
    arity == 1 ? x.__send__(:respond_to?, mid) : x.__send__(:respond_to?, mid, true)
  end

  # x by x.mid, or TypeError.
  def self.convert(x, type, name, mid)
    r = check_call(x, mid)
    if __undef?(r)
      raise TypeError, "no implicit conversion of #{__describe_type(x)} into #{name}"
    end
    return r if __is_a(r, type)
    bad_conversion(x, name, mid, r)
  end

  # x by x.mid, or nil when it has no such method or that gives nil.
  def self.try_convert(x, type, name, mid)
    r = check_call(x, mid)
    return nil if __undef?(r) || __same(r, nil)
    return r if __is_a(r, type)
    bad_conversion(x, name, mid, r)
  end

  def self.bad_conversion(x, name, mid, r)
    t = __describe_type(x)
    raise TypeError, "can't convert #{t} into #{name} (#{t}##{mid} gives #{__describe_type(r)})"
  end

  def self.to_int(x)
    return x if __is_a(x, Integer)
    return x.to_i if __is_a(x, Float)
    convert(x, Integer, :Integer, :to_int)
  end

  def self.setting_encoding(which, encoding)
    warning("setting Encoding.default_#{which}")
    encoding
  end

  # A text that is no number that a Float can be; `token` is what of it is a number.
  def self.float_out_of_range(token, float)
    token = "#{token[0, 20]}..." if token.size > 20
    warning("Float #{token} out of range")
    float
  end

  # x as an Integer of 64 bits: what most arguments are. nil and Floats out of range have messages of their own.
  def self.to_long(x)
    n = __long(x)
    __undef?(n) ? __long(convert(x, Integer, :Integer, :to_int)) : n
  end

  # x as an Integer that C's int holds: descriptors, flags, levels, numbers of processes.
  def self.to_cint(x)
    n = __cint(x)
    __undef?(n) ? __cint(convert(x, Integer, :Integer, :to_int)) : n
  end

  def self.to_str(x)
    return x if __is_a(x, String)
    convert(x, String, :String, :to_str)
  end

  def self.to_ary(x)
    return x if __is_a(x, Array)
    convert(x, Array, :Array, :to_ary)
  end

  def self.to_hash(x)
    return x if __is_a(x, Hash)
    convert(x, Hash, :Hash, :to_hash)
  end

  def self.to_sym(x)
    return x if __is_a(x, Symbol)
    to_name(x)
  end

  def self.to_proc(x)
    return x if __is_a(x, Proc)
    r = check_call(x, :to_proc)
    raise TypeError, "no implicit conversion of #{__describe_type(x)} into Proc" if __undef?(r)
    return r if __is_a(r, Proc)
    bad_conversion(x, :Proc, :to_proc, r)
  end

  def self.to_io(x)
    return x if __is_a(x, IO)
    convert(x, IO, :IO, :to_io)
  end

  # A path: to_path, then to_str.
  def self.to_path(x)
    return x if __is_a(x, String)
    r = check_call(x, :to_path)
    to_str(__undef?(r) ? x : r)
  end

  # A method or variable name as a Symbol.
  def self.to_name(x)
    return x if __is_a(x, Symbol)
    return x.to_sym if __is_a(x, String)
    s = try_str(x)
    raise TypeError, "#{inspect(x)} is not a symbol nor a string" if __same(s, nil)
    s.to_sym
  end

  # A Float the way math functions want it: Numerics only.
  def self.to_float(x)
    return x if __is_a(x, Float)
    if __is_a(x, Numeric)
      r = check_call(x, :to_f)
      raise TypeError, "can't convert #{__describe_type(x)} into Float" if __undef?(r)
      return r if __is_a(r, Float)
      bad_conversion(x, :Float, :to_f, r)
    end
    raise TypeError, "can't convert #{__describe_type(x)} into Float"
  end

  def self.try_int(x)
    __is_a(x, Integer) ? x : try_convert(x, Integer, :Integer, :to_int)
  end

  def self.try_str(x)
    __is_a(x, String) ? x : try_convert(x, String, :String, :to_str)
  end

  def self.try_ary(x)
    __is_a(x, Array) ? x : try_convert(x, Array, :Array, :to_ary)
  end

  def self.try_hash(x)
    __is_a(x, Hash) ? x : try_convert(x, Hash, :Hash, :to_hash)
  end

  def self.try_regexp(x)
    __is_a(x, Regexp) ? x : try_convert(x, Regexp, :Regexp, :to_regexp)
  end

  def self.try_io(x)
    __is_a(x, IO) ? x : try_convert(x, IO, :IO, :to_io)
  end

  # What string interpolation shows: to_s, or the plain description when that gives no String.
  def self.to_s(x)
    s = x.__send__(:to_s)
    __is_a(s, String) ? s : __any_to_s(x)
  end

  # x.inspect as a String, whatever the method gives.
  def self.inspect(x)
    s = x.__send__(:inspect)
    __str_shown(__is_a(s, String) ? s : to_s(s))
  end

  # Runs the block unless it already runs for this object and operation further
  # out on this fiber; nil then.
  def self.recursing(op, obj)
    return nil unless __recursion_enter(op, obj, nil)
    begin
      yield
    ensure
      __recursion_leave(op, obj, nil)
    end
  end

  # The same for a pair of objects (comparisons).
  def self.recursing_pair(op, a, b)
    return nil unless __recursion_enter(op, a, b)
    begin
      yield
    ensure
      __recursion_leave(op, a, b)
    end
  end

  def self.recursive?(obj, op)
    __recursion_active(op, obj, nil)
  end

  def self.cmp_fail(a, b)
    special = __same(b, nil) || __same(b, true) || __same(b, false) ||
              __is_a(b, Integer) || __is_a(b, Float) || __is_a(b, Symbol)
    what = special ? inspect(b) : __describe_class(b)
    raise ArgumentError, "comparison of #{__describe_class(a)} with #{what} failed"
  end

  # The sign of a <=> result as -1, 0 or 1; an error when it is nil.
  def self.cmp_int(r, a, b)
    cmp_fail(a, b) if __same(r, nil)
    return (r > 0 ? 1 : r < 0 ? -1 : 0) if __is_a(r, Integer)
    return 1 if r > 0
    return -1 if r < 0
    0
  end

  def self.raise_frozen(obj)
    kind, shown = recursing(:frozen_error, obj) { [singleton_text(obj), inspect(obj)] } || [nil, "..."]
    raise FrozenError.new("can't modify frozen #{kind || __describe_class(obj)}: #{shown}", receiver: obj)
  end

  # `owner`'s methods or ancestors would change; it is the singleton class of `attached` unless that is nil.
  def self.raise_frozen_class(owner, attached)
    of = __same(attached, nil) ? owner : attached
    kind = __is_a(of, Class) ? "Class" : __is_a(of, Module) ? "Module" : __describe_class(of)
    kind = kind.downcase if __same(attached, nil)
    raise FrozenError.new("can't modify frozen #{kind}: #{to_s(of)}", receiver: of)
  end

  # The name of the class that has the methods of `obj` alone, if it has one; a class always has.
  def self.singleton_text(obj)
    if __singleton?(obj) || (__is_a(obj, Class) && !obj.singleton_class?)
      return "#<Class:#{__is_a(obj, Module) ? inspect(obj) : __any_to_s(obj)}>"
    end
    __is_a(obj, Class) ? "#<Class:#{obj.superclass}>" : nil
  end

  def self.raise_errno(errno, detail = nil)
    raise SystemCallError.new(detail, errno)
  end

  # "wrong number of arguments (given 3, expected 1..2)"; most nil: no upper bound.
  def self.arity_error(given, least, most = least)
    range = if __same(most, nil) then "#{least}+"
            elsif least == most then least.to_s
            else "#{least}..#{most}"
            end
    raise ArgumentError, "wrong number of arguments (given #{given}, expected #{range})"
  end
end
