# Data: frozen records with named members.
class Data
  class << self
    undef_method :new
  end

  def self.define(*names, &block)
    members = names.map { |m| KumiSys.to_name(m) }
    members.each_with_index do |m, i|
      raise ArgumentError, "invalid data member: #{m}" if m.end_with?("=")
      raise ArgumentError, "duplicate member: #{m}" if members.index(m) < i
    end
    klass = __struct_class(self, members, true)
    klass.extend(KumiSys::DataClass)
    __send__(:inherited, klass)
    klass.class_eval(&block) if block
    klass
  end

  # Becomes `new` and `[]` of classes made by define: positional values turn into keywords.
  def self.__data_new(*args, **kw)
    unless __ary_len(args) == 0
      members = __struct_members(self)
      args << kw unless kw.empty?
      if __ary_len(args) > members.size
        expected = members.empty? ? "0" : "#{"0.." if members.size > 0}#{members.size}"
        raise ArgumentError, "wrong number of arguments (given #{__ary_len(args)}, expected #{expected})"
      end
      kw = {}
      args.each_with_index { |v, i| kw[members[i]] = v }
    end
    obj = allocate
    obj.__send__(:initialize, **kw)
    obj.freeze
  end

  def initialize(**kw)
    __check_frozen(self)
    members = __struct_members(self)
    unknown = nil
    filled = {}
    kw.each do |k, v|
      k = KumiSys.data_key(k) unless __is_a(k, Symbol) || __is_a(k, String)
      i = __struct_index(self, __is_a(k, String) ? k.to_sym : k)
      if i
        __struct_set(self, i, v)
        filled[members[i]] = true
      else
        (unknown ||= []) << k
      end
    end
    if filled.size < members.size
      missing = members.reject { |m| filled[m] }
      s = missing.size > 1 ? "s" : ""
      raise ArgumentError, "missing keyword#{s}: #{missing.map { |m| KumiSys.inspect(m) }.join(", ")}"
    end
    if unknown
      s = unknown.size > 1 ? "s" : ""
      raise ArgumentError, "unknown keyword#{s}: #{unknown.map { |k| KumiSys.inspect(k) }.join(", ")}"
    end
    freeze
    nil
  end

  def with(*args, **kw)
    KumiSys.arity_error(__ary_len(args), 0) unless __ary_len(args) == 0
    return self if kw.empty?
    h = KumiSys.struct_to_h(self)
    KumiSys.hash_update(h, kw)
    obj = __class(self).allocate
    # Members of a newer version, which came with it from another node, go on with it.
    more = __ivar_get(self, :@__more)
    __ivar_set(obj, :@__more, more) unless __undef?(more)
    obj.__send__(:initialize, **h)
    obj.freeze
  end

  def ==(other) = KumiSys.struct_equal?(self, other, false)
  def eql?(other) = KumiSys.struct_equal?(self, other, true)
  def hash = KumiSys.struct_hash(self)
  def inspect = KumiSys.struct_inspect(self, "data")
  alias_method :to_s, :inspect

  def to_h(&)
    KumiSys.struct_to_h(self, &)
  end

  def deconstruct_keys(keys) = KumiSys.struct_deconstruct_keys(self, keys)
end

module KumiSys
  # What classes made by Data.define answer.
  module DataClass
    def members = __struct_members(self)
  end
end
