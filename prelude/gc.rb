# GC: collections on request, and what is counted of them.
module GC
  INTERNAL_CONSTANTS = {
    DEBUG: false,
    BASE_SLOT_SIZE: 32,
    RVALUE_OVERHEAD: 0,
    RVARGC_MAX_ALLOCATE_SIZE: 2048,
    HEAP_PAGE_SIZE: 32768,
    HEAP_PAGE_OBJ_LIMIT: 1024,
    HEAP_COUNT: 12,
    RVALUE_OLD_AGE: 1,
    RVALUE_SIZE: 32
  }.freeze
  OPTS = [].freeze

  # With `immediate_mark: false` a full collection in slices (`KUMI_GC=interruptible`) only begins.
  def self.start(full_mark: true, immediate_mark: true, immediate_sweep: true)
    __gc_start(full_mark, immediate_sweep) if immediate_mark || !full_mark || !__gc_begin
    nil
  end

  # The whole Hash holds whole numbers only; histograms and the workers' own numbers are given when asked for.
  def self.stat(key = nil)
    if __is_a(key, Symbol)
      return __gc_workers if __same(key, :workers)
      return __gc_schedule if __same(key, :schedule)
      v = __gc_stat(key)
      raise ArgumentError, "unknown key: #{key}" if __undef?(v)
      return v
    end
    raise TypeError, "non-hash or symbol given" unless __same(key, nil) || __is_a(key, Hash)
    all = __gc_stat(nil)
    return all if __same(key, nil)
    all.each { |k, v| key[k] = v }
    key
  end

  # By size of slots: the number of a size (or nil), and a Hash or one of its keys.
  def self.stat_heap(heap = nil, key = nil)
    unless __same(heap, nil)
      raise TypeError, "heap_name must be nil or an Integer" unless __is_a(heap, Integer)
    end
    unless __same(key, nil) || __is_a(key, Symbol) || __is_a(key, Hash)
      raise TypeError, "non-hash or symbol given"
    end
    all = KumiSys.slot_sizes
    if __same(heap, nil)
      raise TypeError, "non-hash given" if __is_a(key, Symbol)
      return all if __same(key, nil)
      all.each { |i, h| key[i] = __is_a(key[i], Hash) ? key[i].update(h) : h }
      return key
    end
    one = all[heap]
    raise ArgumentError, "heap index out of range" unless one
    return one.each_with_object(key) { |(k, v), h| h[k] = v } if __is_a(key, Hash)
    return one if __same(key, nil)
    raise ArgumentError, "unknown key: #{key}" unless one.key?(key)
    one[key]
  end

  # Cells never move. The calls that would move them answer in CRuby's shape that nothing did.
  def self.compact
    latest_compact_info
  end

  def self.latest_compact_info
    { considered: {}, moved: {}, moved_up: {}, moved_down: {} }
  end

  def self.verify_compaction_references(toward: nil, double_heap: false, expand_heap: false)
    __gc_start(true, true)
    latest_compact_info
  end

  def self.auto_compact
    @__auto_compact ? true : false
  end

  def self.auto_compact=(flag)
    @__auto_compact = flag ? true : false
  end

  def self.config(options = nil)
    unless __same(options, nil)
      raise ArgumentError, "argument must be hash" unless __is_a(options, Hash)
      if options.key?(:implementation)
        raise ArgumentError, "Attempting to set read-only key \"Implementation\""
      end
      __gc_young_only(!options[:rgengc_allow_full_mark]) if options.key?(:rgengc_allow_full_mark)
    end
    { rgengc_allow_full_mark: !__gc_young_only(nil), implementation: "kumi" }
  end

  def self.latest_gc_info(key = nil)
    unless __same(key, nil) || __is_a(key, Symbol) || __is_a(key, Hash)
      raise TypeError, "non-hash or symbol given"
    end
    info = {
      major_by: nil,
      need_major_by: nil,
      gc_by: nil,
      have_finalizer: false,
      immediate_sweep: false,
      state: :none,
      weak_references_count: 0,
      retained_weak_references_count: 0
    }
    last = __gc_last
    info.update(last) if last
    if __is_a(key, Symbol)
      raise ArgumentError, "unknown key: #{key}" unless info.key?(key)
      return info[key]
    end
    __same(key, nil) ? info : key.update(info)
  end

  def garbage_collect(full_mark: true, immediate_mark: true, immediate_sweep: true)
    __gc_start(full_mark, immediate_sweep) if immediate_mark || !full_mark || !__gc_begin
    nil
  end
end

module KumiSys
  # Live cells by size of slot, as GC.stat_heap shows them.
  def self.slot_sizes
    all = {}
    __gc_sizes.each_with_index do |(size, cells), i|
      pages = (size * cells + 32767) / 32768
      all[i] = {
        slot_size: size,
        heap_live_slots: cells,
        heap_free_slots: 0,
        heap_eden_pages: pages,
        heap_eden_slots: cells,
        total_allocated_pages: pages,
        total_allocated_objects: cells,
        total_freed_objects: 0,
        force_major_gc_count: 0,
        force_incremental_marking_finish_count: 0
      }
    end
    all
  end
end

# Node collections one by one, kept while it is enabled. Nursery collections, which stop nobody else, are only
# counted (GC.stat).
module GC::Profiler
  def self.enabled?
    @__enabled ? true : false
  end

  def self.enable
    @__enabled = true
    __gc_profile(true)
    nil
  end

  def self.disable
    @__enabled = false
    __gc_profile(false)
    nil
  end

  def self.clear
    __gc_profile(nil)
    nil
  end

  # Seconds.
  def self.total_time
    __gc_profiled.sum(0.0) { |c| c[1] }
  end

  def self.raw_data
    __gc_profiled.map do |at, pause, before, after, live, freed, full, marking|
      {
        GC_FLAGS: { gc_by: :newobj, major_by: full ? :force : nil },
        GC_TIME: pause,
        GC_INVOKE_TIME: at,
        HEAP_USE_SIZE: after,
        HEAP_TOTAL_SIZE: before,
        HEAP_TOTAL_OBJECTS: live + freed,
        MOVED_OBJECTS: 0,
        GC_IS_MARKED: true,
        GC_MARK_TIME: marking,
        HEAP_LIVE_OBJECTS: live,
        HEAP_FREE_OBJECTS: freed
      }
    end
  end

  def self.result
    list = enabled? ? raw_data : []
    return "" if list.empty?
    text = +"GC #{list.size} invokes.\n"
    text << "Index    Invoke Time(sec)       Use Size(byte)     Total Size(byte)         Total Object                    GC Time(ms)\n"
    list.each_with_index do |c, i|
      text << format(
        "%5d %19.3f %20d %20d %20d %30.20f\n",
        i + 1, c[:GC_INVOKE_TIME], c[:HEAP_USE_SIZE], c[:HEAP_TOTAL_SIZE], c[:HEAP_TOTAL_OBJECTS], c[:GC_TIME] * 1000.0
      )
    end
    text
  end

  def self.report(out = $stdout)
    text = result
    out.write(text) unless text.empty?
    nil
  end
end
