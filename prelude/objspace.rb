# ObjectSpace and GC: walking the heap, weak tables, collections on request.
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

  # Finalizers of everything that is still there, at the end of the program.
  def self.finish_finalizers
    while !(list = __take_finalizers).empty?
      run_finalizers(list)
    end
  end

  # Calls the finalizers of objects that are gone: [[[callables], heap id], ...].
  def self.run_finalizers(list)
    list.each do |callables, id|
      callables.each do |f|
        begin
          f.call(id + 8)
        rescue Exception => e
          unless __same($VERBOSE, nil)
            $stderr.write("#{to_s(f)}: warning: Exception in finalizer #{inspect(f)}\n")
            $stderr.write(report(e))
          end
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
    __gc_start
    nil
  end

  def count_objects(result = {})
    raise TypeError, "non-hash given" unless __is_a(result, Hash)
    counts = __count_objects
    result[:TOTAL] = counts[0]
    result[:FREE] = 0
    [:T_OBJECT, :T_STRING, :T_ARRAY, :T_HASH, :T_CLASS, :T_DATA, :T_IMEMO].each_with_index do |name, i|
      result[name] = counts[i + 1]
    end
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
    [0, __add_finalizer(object, callable)]
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

module GC
  def self.start(full_mark: true, immediate_mark: true, immediate_sweep: true)
    __gc_start
    nil
  end

  def self.stat(key = nil)
    rows = __gc_stat
    if __is_a(key, Symbol)
      row = rows.find { |r| r[0] == key }
      raise ArgumentError, "unknown key: #{key}" unless row
      return row[1]
    end
    raise TypeError, "non-hash or symbol given" unless __same(key, nil) || __is_a(key, Hash)
    h = key || {}
    rows.each { |k, v| h[k] = v }
    h
  end

  def self.stat_heap(heap = nil, key = nil)
    {}
  end

  def self.compact
    nil
  end

  # Nothing moves here: the switch is kept for programs that set it.
  def self.auto_compact
    @__auto_compact ? true : false
  end

  def self.auto_compact=(flag)
    @__auto_compact = flag ? true : false
  end

  def self.measure_total_time
    !@__time_off
  end

  def self.measure_total_time=(flag)
    @__time_off = !flag
  end

  def self.config(options = nil)
    unless __same(options, nil)
      raise ArgumentError, "argument must be hash" unless __is_a(options, Hash)
      if options.key?(:implementation)
        raise ArgumentError, "Attempting to set read-only key \"Implementation\""
      end
      @__full_mark_off = !options[:rgengc_allow_full_mark] if options.key?(:rgengc_allow_full_mark)
    end
    { rgengc_allow_full_mark: !@__full_mark_off, implementation: "kumi" }
  end

  def self.latest_gc_info(key = nil)
    info = { major_by: nil, need_major_by: nil, gc_by: :newobj, have_finalizer: false, immediate_sweep: false, state: :none }
    __is_a(key, Symbol) ? info[key] : info
  end

  def garbage_collect(full_mark: true, immediate_mark: true, immediate_sweep: true)
    __gc_start
    nil
  end
end

# Times of collections. Always measured; `enable` only says that somebody looks.
module GC::Profiler
  def self.enabled?
    @__enabled ? true : false
  end

  def self.enable
    @__enabled = true
    nil
  end

  def self.disable
    @__enabled = false
    nil
  end

  def self.clear
    @__since = GC.total_time
    nil
  end

  def self.total_time
    (GC.total_time - (@__since || 0)) / 1_000_000_000.0
  end

  def self.result
    return "" unless enabled?
    "GC #{GC.count} invokes.\n"
  end

  def self.report(out = $stdout)
    out.write(result)
    nil
  end

  def self.raw_data
    []
  end
end
