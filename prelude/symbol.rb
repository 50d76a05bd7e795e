# Symbol: most methods are String's, on the name.
class Symbol
  include Comparable

  def [](*args)
    name[*args]
  end

  alias slice []
  alias intern to_sym

  def =~(other)
    name =~ other
  end

  def match(pattern, *pos, &block)
    name.match(pattern, *pos, &block)
  end

  def match?(pattern, pos = 0)
    name.match?(pattern, pos)
  end

  def upcase(*options) = name.upcase(*options).to_sym
  def downcase(*options) = name.downcase(*options).to_sym
  def capitalize(*options) = name.capitalize(*options).to_sym
  def swapcase(*options) = name.swapcase(*options).to_sym
  def succ = name.succ.to_sym
  alias next succ

  def casecmp(other)
    return nil unless __is_a(other, Symbol)
    name.casecmp(other.name)
  end

  def casecmp?(other)
    return nil unless __is_a(other, Symbol)
    name.casecmp?(other.name)
  end

  def start_with?(*prefixes)
    name.start_with?(*prefixes)
  end
end
