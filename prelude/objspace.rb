# ObjectSpace: walking the heap, weak tables, finalizers.
module KumiSys
  def self.refers_to?(callable, object)
    if __is_a(callable, Proc)
      kind = __proc_kind(callable)
      return refers_to?(kind[1], object) if kind[0] == 2
      __same(__proc_self(callable), object)
    elsif __is_a(callable, Method)
      __same(callable.receiver, object)
    else
      __same(callable, object)
    end
  end

  def self.weak_text(x)
    __special?(x) || __is_a(x, Symbol) ? inspect(x) : __any_to_s(x)
  end

  # A table without entries may be walked without a block.
  def self.need_block(pairs)
    raise LocalJumpError, "no block given (yield)" unless pairs.empty?
  end

  # What the library objspace is made of.
  def self.memsize_of(object) = __memsize_of(object)
  def self.memsize_of_all(klass) = __memsize_of_all(klass)
  def self.count_objects_size = __count_objects(true)
  def self.reachable_from(object) = __reachable_from(object)
  def self.trace_births(on) = __trace_births(on)
  def self.forget_births = __forget_births
  def self.birth(object) = __birth(object)
  def self.class_of(object) = __class_of(object)

  # Finalizers of everything that is still there, at the end of the program. A signal ends them.
  def self.finish_finalizers
    while !(list = __take_finalizers).empty?
      finalize(list, true)
    end
  end

  # The loop calls this when objects with finalizers are gone. Until it is over no interrupt reaches the thread.
  def self.run_finalizers
    list = __take_pending_finalizers
    finalize(list)
  ensure
    __finalized(list)
  end

  # Calls finalizers: [[callable, heap id], ...]. Each leaves the list before it is called.
  def self.finalize(list, ending = false)
    until list.empty?
      f, id = list.shift
      begin
        f.call(id + 8)
      rescue Exception => e
        raise e if ending && __is_a(e, SignalException)
        unless __same($VERBOSE, nil)
          complain("#{to_s(f)}: warning: Exception in finalizer #{inspect(f)}\n")
          complain(report(e))
        end
      end
    end
    nil
  end
end

module ObjectSpace
  module_function

  def each_object(mod = nil)
    unless __same(mod, nil) || __is_a(mod, Module)
      raise TypeError, "class or module required"
    end
    return to_enum(:each_object, *(mod ? [mod] : [])) unless block_given?
    list = __each_object(mod)
    i = 0
    while i < list.size
      yield list[i]
      i += 1
    end
    i
  end

  def garbage_collect(full_mark: true, immediate_mark: true, immediate_sweep: true)
    __gc_start(full_mark, immediate_sweep) if immediate_mark || !full_mark || !__gc_begin
    nil
  end

  def count_objects(result = {})
    raise TypeError, "non-hash given" unless __is_a(result, Hash)
    result.each_key { |k| result[k] = 0 }
    counts = __count_objects(false)
    result[:TOTAL] = counts[:TOTAL]
    result[:FREE] = 0
    counts.each { |k, n| result[k] = n }
    result
  end

  def define_finalizer(object, callable = __undef, &block)
    if __undef?(callable)
      raise ArgumentError, "tried to create Proc object without a block" unless block
      callable = block
    end
    raise ArgumentError, "cannot define finalizer for #{__describe_class(object)}" if __special?(object) || __is_a(object, Symbol)
    unless callable.respond_to?(:call, true)
      raise ArgumentError, "wrong type argument #{__describe_class(callable)} (should be callable)"
    end
    __check_frozen(object)
    if KumiSys.refers_to?(callable, object)
      KumiSys.warning("finalizer references object to be finalized")
    end
    # The same callable counts once.
    old = __finalizers(object).find { |f| __same(f, callable) || f == callable }
    [0, old || __add_finalizer(object, callable)]
  end

  def undefine_finalizer(object)
    __check_frozen(object)
    __remove_finalizers(object)
    object
  end

  def _id2ref(id)
    KumiSys.warning("ObjectSpace._id2ref is deprecated", :deprecated)
    v = __id2ref(KumiSys.to_int(id))
    raise RangeError, "0x#{id.to_s(16).rjust(16, "0")} is not an id value" if __undef?(v)
    if __same(v, nil) && id != 8
      raise RangeError, "0x#{id.to_s(16).rjust(16, "0")} is a recycled object"
    end
    v
  end
end

class ObjectSpace::WeakMap
  include Enumerable

  def each
    KumiSys.need_block(__weak_pairs(self)) unless block_given?
    __weak_pairs(self).each { |k, v| yield k, v }
    self
  end

  alias each_pair each

  def each_key
    KumiSys.need_block(__weak_pairs(self)) unless block_given?
    __weak_pairs(self).each { |k, _| yield k }
    self
  end

  def each_value
    KumiSys.need_block(__weak_pairs(self)) unless block_given?
    __weak_pairs(self).each { |_, v| yield v }
    self
  end

  def keys
    __weak_pairs(self).map { |p| p[0] }
  end

  def values
    __weak_pairs(self).map { |p| p[1] }
  end

  def delete(key)
    v = __weak_delete(self, key)
    return v unless __undef?(v)
    block_given? ? yield(key) : nil
  end

  def inspect
    pairs = __weak_pairs(self).map { |k, v| "#{KumiSys.weak_text(k)} => #{KumiSys.weak_text(v)}" }
    head = __any_to_s(self)
    pairs.empty? ? head : "#{head[0, head.size - 1]}: #{pairs.join(", ")}>"
  end

  alias include? key?
  alias member? key?
  alias length size
end

class ObjectSpace::WeakKeyMap
  def [](key)
    k = find_key(key)
    __undef?(k) ? nil : __wkm_value(self, k)
  end

  def []=(key, value)
    if __special?(key) || __is_a(key, Symbol)
      raise ArgumentError, "WeakKeyMap keys must be garbage collectable"
    end
    while true
      version = __wkm_version(self)
      k = find_key(key)
      return value if __wkm_store(self, KumiSys.key_hash(key), __undef?(k) ? key : k, value, version)
    end
  end

  def key?(key)
    !__undef?(find_key(key))
  end

  def getkey(key)
    k = find_key(key)
    __undef?(k) ? nil : k
  end

  def delete(key)
    k = find_key(key)
    return(block_given? ? yield(key) : nil) if __undef?(k)
    v = __wkm_value(self, k)
    __wkm_delete(self, k)
    v
  end

  def clear
    __wkm_clear(self)
  end

  def inspect
    head = __any_to_s(self)
    "#{head[0, head.size - 1]} size=#{__wkm_size(self)}>"
  end

  private def find_key(key)
    __wkm_candidates(self, KumiSys.key_hash(key)).each do |k|
      return k if __same(k, key) || key.eql?(k)
    end
    __undef
  end
end
