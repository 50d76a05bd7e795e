# Arithmetic between a built-in number and something else: `coerce` brings both
# to one class, then the operator is sent again.
module KumiSys
  # x and y brought together by y.coerce(x); TypeError when y can't.
  def self.coerce(x, y)
    coerce_failed(x, y) unless coercible?(y)
    pair = y.__send__(:coerce, x)
    unless __is_a(pair, Array) && pair.size == 2
      raise TypeError, "coerce must return [x, y]"
    end
    pair
  end

  # The same, but nil when y has no coerce or its coerce gives nil.
  def self.try_coerce(x, y)
    return nil unless coercible?(y)
    pair = y.__send__(:coerce, x)
    return nil if __same(pair, nil)
    unless __is_a(pair, Array) && pair.size == 2
      raise TypeError, "coerce must return [x, y]"
    end
    pair
  end

  def self.coercible?(y)
    return false if __same(y, nil) || __same(y, true) || __same(y, false)
    __responds(y, :coerce) || (!__builtin(y, :respond_to?) && y.respond_to?(:coerce)) ||
      (__responds(y, :respond_to_missing?) && !__builtin(y, :respond_to_missing?) && y.respond_to?(:coerce))
  end

  def self.coerce_failed(x, y)
    special = __same(y, nil) || __same(y, true) || __same(y, false) || __is_a(y, Symbol) || __is_a(y, Float)
    what = special ? inspect(y) : __describe_class(y)
    raise TypeError, "#{what} can't be coerced into #{__describe_class(x)}"
  end

  # Real numbers that natives compute with: between two of them nothing is coerced.
  def self.plain_real?(x) = __is_a(x, Integer) || __is_a(x, Float) || __is_a(x, Rational)

  # x.op(y) for an arithmetic operator.
  def self.coerce_bin(x, op, y)
    return x.__send__(op, y) if plain_real?(x) && plain_real?(y)
    pair = coerce(x, y)
    pair[0].__send__(op, pair[1])
  end

  # x <=> y; nil when they can't be compared.
  def self.coerce_cmp(x, y)
    return x <=> y if plain_real?(x) && plain_real?(y)
    pair = try_coerce(x, y)
    return nil if __same(pair, nil)
    pair[0] <=> pair[1]
  end

  # x.op(y) for an ordering operator.
  def self.coerce_rel(x, op, y)
    return x.__send__(op, y) if plain_real?(x) && plain_real?(y)
    pair = try_coerce(x, y)
    cmp_fail(x, y) if __same(pair, nil)
    r = pair[0].__send__(op, pair[1])
    cmp_fail(x, y) if __same(r, nil)
    r
  end

  # x.op(y) for a bit operator: Integers only.
  def self.coerce_bit(x, op, y)
    coerce_failed(x, y) if __is_a(y, Float)
    pair = coerce(x, y)
    coerce_failed(x, y) unless __responds(pair[0], op)
    pair[0].__send__(op, pair[1])
  end

  # The number of a `half:` argument for the rounding leaves.
  def self.rounding_mode(half)
    return 3 if __same(half, nil)
    name = __is_a(half, Symbol) ? half.to_s : try_str(half)
    raise ArgumentError, "invalid rounding mode: #{inspect(half)}" if __same(name, nil)
    case name
    when "up" then 3
    when "down" then 4
    when "even" then 5
    else raise ArgumentError, "invalid rounding mode: #{name}"
    end
  end
end
