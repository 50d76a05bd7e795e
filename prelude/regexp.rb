# Regexp and MatchData: construction, conversions, and what takes a block.
class Regexp
  IGNORECASE = 1
  EXTENDED = 2
  MULTILINE = 4
  FIXEDENCODING = 16
  NOENCODING = 32

  def self.compile(*args, **options)
    new(*args, **options)
  end

  def self.try_convert(object)
    KumiSys.try_regexp(object)
  end

  def self.union(*patterns)
    if patterns.size == 1
      list = KumiSys.try_ary(patterns[0])
      patterns = list unless __same(list, nil)
    end
    one = patterns.size == 1
    __regexp_union(patterns.map { |x| KumiSys.union_part(x, one) })
  end

  def self.last_match(group = __undef)
    m = __last_match
    return m if __undef?(group) || __same(m, nil)
    m[group]
  end

  def self.linear_time?(pattern, options = __undef, timeout: __undef)
    if __is_a(pattern, Regexp)
      KumiSys.warning "flags ignored" unless __undef?(options)
      return __regexp_linear(pattern)
    end
    __regexp_linear(__undef?(options) ? new(pattern) : new(pattern, options))
  end

  def self.timeout=(seconds)
    __regexp_timeout_set(KumiSys.regexp_timeout(seconds))
    seconds
  end

  def initialize(source, options = __undef, timeout: nil)
    limit = KumiSys.regexp_timeout(timeout)
    if __is_a(source, Regexp)
      KumiSys.warning "flags ignored" unless __undef?(options)
      __regexp_init(self, source.source, source.options, limit)
    else
      bits = __undef?(options) ? 0 : KumiSys.regexp_options(options)
      source = KumiSys.to_str(source)
      __regexp_init(self, source, bits, limit)
      __regexp_complaints(source, bits).each { |said| KumiSys.warning(said) } if $VERBOSE
    end
    self
  end

  def initialize_copy(other)
    __regexp_copy(self, other)
  end

  def ===(other)
    text = __is_a(other, Symbol) ? other : KumiSys.try_str(other)
    if __same(text, nil)
      __set_last_match(nil)
      return false
    end
    !__same(self =~ text, nil)
  end

  def match(text, pos = 0)
    text = KumiSys.to_str(text) unless __same(text, nil) || __is_a(text, Symbol)
    m = __re_match(self, text, KumiSys.to_long(pos))
    return m if __same(m, nil) || !block_given?
    yield m
  end

  def ~
    line = $_
    unless __is_a(line, String)
      __set_last_match(nil)
      return nil
    end
    self =~ line
  end

  def named_captures
    list = __regexp_name_groups(self)
    h = {}
    list.each { |pair| h[pair[0]] = pair[1] }
    h
  end
end

class MatchData
  class << self
    undef_method :allocate
  end

  def [](index, length = __undef)
    return to_a[index, length] unless __undef?(length)
    return to_a[index] if __is_a(index, Range)
    self[index]
  end

  def values_at(*indexes)
    out = []
    indexes.each do |i|
      if __is_a(i, Range)
        out.concat(to_a.values_at(i))
      else
        out << self[i]
      end
    end
    out
  end

  def named_captures(symbolize_names: false)
    h = {}
    names.each { |n| h[symbolize_names ? n.to_sym : n] = self[n] }
    h
  end

  def deconstruct_keys(keys)
    unless __same(keys, nil) || __is_a(keys, Array)
      raise TypeError, "wrong argument type #{__describe_type(keys)} (expected Array)"
    end
    if __same(keys, nil)
      h = {}
      names.each { |n| h[n.to_sym] = self[n] }
      return h
    end
    known = names
    h = {}
    return h if keys.size > known.size
    keys.each do |k|
      raise TypeError, "wrong argument type #{__describe_type(k)} (expected Symbol)" unless __is_a(k, Symbol)
      break unless known.include?(k.name)
      h[k] = self[k]
    end
    h
  end

  def dup
    m = __match_copy(self)
    __copy_ivars(self, m)
    m
  end

  def clone(freeze: nil)
    m = __match_copy(self)
    __copy_ivars(self, m)
    m.freeze if freeze || (__same(freeze, nil) && frozen?)
    m
  end
end

module KumiSys
  def self.union_part(x, alone)
    return x if __is_a(x, Regexp) || __is_a(x, String)
    return x.name if __is_a(x, Symbol)
    re = try_regexp(x)
    return re unless __same(re, nil)
    to_str(x)
  end

  def self.regexp_timeout(seconds)
    return nil if __same(seconds, nil)
    t = Float(seconds)
    raise ArgumentError, "invalid timeout: #{inspect(seconds)}" unless t > 0
    t
  end

  def self.regexp_options(options)
    if __is_a(options, Integer)
      return options
    elsif __is_a(options, String)
      bits = 0
      options.each_char do |c|
        case c
        when "i" then bits |= 1
        when "x" then bits |= 2
        when "m" then bits |= 4
        else raise ArgumentError, "unknown regexp option: #{options}"
        end
      end
      return bits
    end
    unless __same(options, nil) || __same(options, true) || __same(options, false)
      KumiSys.warning "expected true or false as ignorecase: #{inspect(options)}" if $VERBOSE
    end
    options ? 1 : 0
  end
end
