# ENV: the process environment, seen as a hash of strings.
ENV = Object.new

class << ENV
  include Enumerable

  def [](name) = __env_get(KumiSys.to_str(name))

  def fetch(name, default = __undef)
    if block_given? && !__undef?(default)
      warn("block supersedes default value argument", uplevel: 0)
    end
    name = KumiSys.to_str(name)
    v = __env_get(name)
    return v unless v.nil?
    return yield(name) if block_given?
    return default unless __undef?(default)
    raise KeyError.new("key not found: #{name.inspect}", receiver: self, key: name)
  end

  def []=(name, value)
    name = KumiSys.to_str(name)
    value = KumiSys.to_str(value) unless value.nil?
    unless __env_set(name, value)
      return nil if value.nil?
      raise Errno::EINVAL, "setenv(#{name})"
    end
    value
  end
  alias_method :store, :[]=

  def delete(name)
    name = KumiSys.to_str(name)
    old = __env_get(name)
    if old.nil?
      return block_given? ? yield(name) : nil
    end
    __env_set(name, nil)
    old
  end

  def key?(name) = !__env_get(KumiSys.to_str(name)).nil?
  alias_method :include?, :key?
  alias_method :has_key?, :key?
  alias_method :member?, :key?

  def value?(value)
    value = KumiSys.try_str(value)
    return nil if value.nil?
    values.include?(value)
  end
  alias_method :has_value?, :value?

  def key(value)
    value = KumiSys.to_str(value)
    __env_key(value)
  end

  def keys = __env_pairs.map { |p| p[0] }
  def values = __env_pairs.map { |p| p[1] }
  def to_a = __env_pairs
  def size = __env_keys.size
  alias_method :length, :size
  def empty? = __env_keys.empty?
  def values_at(*names) = names.map { |n| self[n] }

  def to_hash
    h = {}
    __env_pairs.each { |k, v| h[k] = v }
    h
  end

  def to_h(&block)
    block ? to_hash.to_h(&block) : to_hash
  end

  def to_s = "ENV"

  def inspect
    "{" + to_a.map { |k, v| "#{k.inspect} => #{v.inspect}" }.join(", ") + "}"
  end

  def assoc(name)
    name = KumiSys.to_str(name)
    v = __env_get(name)
    v.nil? ? nil : [name, v]
  end

  def rassoc(value)
    value = KumiSys.try_str(value)
    return nil if value.nil?
    to_a.each { |pair| return pair if pair[1] == value }
    nil
  end

  def each
    return to_enum(__called) { size } unless block_given?
    to_a.each { |pair| yield pair }
    self
  end
  alias_method :each_pair, :each

  def each_key
    return to_enum(:each_key) { size } unless block_given?
    keys.each { |k| yield k }
    self
  end

  def each_value
    return to_enum(:each_value) { size } unless block_given?
    values.each { |v| yield v }
    self
  end

  def select
    return to_enum(__called) { size } unless block_given?
    h = {}
    to_a.each { |k, v| h[k] = v if yield(k, v) }
    h
  end
  alias_method :filter, :select

  def reject
    return to_enum(:reject) { size } unless block_given?
    h = {}
    to_a.each { |k, v| h[k] = v unless yield(k, v) }
    h
  end

  def filter_map(&block)
    return to_enum(:filter_map) unless block
    to_a.filter_map(&block)
  end

  def delete_if
    return to_enum(:delete_if) { size } unless block_given?
    reject! { |k, v| yield(k, v) }
    self
  end

  def reject!
    return to_enum(:reject!) { size } unless block_given?
    n = 0
    to_a.each do |k, v|
      if yield(k, v)
        __env_set(k, nil)
        n += 1
      end
    end
    n == 0 ? nil : self
  end

  def keep_if
    return to_enum(:keep_if) { size } unless block_given?
    reject! { |k, v| !yield(k, v) }
    self
  end

  def select!
    return to_enum(__called) { size } unless block_given?
    reject! { |k, v| !yield(k, v) }
  end
  alias_method :filter!, :select!

  def slice(*names)
    h = {}
    names.each do |n|
      v = self[n]
      h[n] = v unless v.nil?
    end
    h
  end

  def except(*names)
    h = to_hash
    names.each { |n| h.delete(n) }
    h
  end

  def invert = to_hash.invert

  def shift
    k = __env_keys.first
    return nil if k.nil?
    pair = __env_pairs.first
    __env_set(k, nil)
    pair
  end

  def clear
    __env_keys.each { |k| __env_set(k, nil) }
    self
  end

  def replace(other)
    other = KumiSys.to_hash(other)
    new = {}
    other.each { |k, v| new[KumiSys.to_str(k)] = KumiSys.to_str(v) }
    old = __env_keys
    new.each { |k, v| self[k] = v }
    old.each { |k| __env_set(k, nil) unless new.key?(k) }
    self
  end

  def update(*others)
    others.each do |other|
      KumiSys.to_hash(other).each do |k, v|
        if block_given?
          old = self[k]
          v = yield(k, old, v) unless old.nil?
        end
        self[k] = v
      end
    end
    self
  end
  alias_method :merge!, :update

  def rehash = nil

  def freeze
    raise TypeError, "cannot freeze ENV"
  end

  def clone(freeze: nil)
    unless freeze.nil? || freeze == true || freeze == false
      raise ArgumentError, "unexpected value for freeze: #{__class(freeze)}"
    end
    raise TypeError, "Cannot clone ENV, use ENV.to_h to get a copy of ENV as a hash"
  end

  def dup
    raise TypeError, "Cannot dup ENV, use ENV.to_h to get a copy of ENV as a hash"
  end
end
