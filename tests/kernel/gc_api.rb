# GC and ObjectSpace as programs see them.

# --- counters ---------------------------------------------------------------
s = GC.stat
p s.is_a?(Hash), s.values.all?(Integer), s.values.all? { |v| v >= 0 }
cruby = %i[
  count time marking_time sweeping_time heap_allocated_pages heap_empty_pages heap_allocatable_slots
  heap_available_slots heap_live_slots heap_free_slots heap_final_slots heap_marked_slots heap_eden_pages
  total_allocated_pages total_freed_pages total_allocated_objects total_freed_objects malloc_increase_bytes
  malloc_increase_bytes_limit minor_gc_count major_gc_count compact_count read_barrier_faults total_moved_objects
  remembered_wb_unprotected_objects remembered_wb_unprotected_objects_limit old_objects old_objects_limit
  oldmalloc_increase_bytes oldmalloc_increase_bytes_limit
]
ours = %i[
  young_count young_ns full_count full_ns window_count window_ns window_freed_bytes window_freed_cells private_bytes
  published_bytes retired_bytes misspeculated_bytes shared_bytes retirements sites_window sites_shared
  pause_young_p99_ns pause_full_max_ns pause_window_p50_ns time_to_safepoint_p99_ns live_bytes heap_max
]
p (cruby + ours) - s.keys
p (cruby + ours).all? { |k| GC.stat(k).is_a?(Integer) }
h = { count: nil, other: 1 }
p GC.stat(h).equal?(h), h[:count].is_a?(Integer), h[:other]
p s[:misspeculated_bytes] == s[:published_bytes] + s[:retired_bytes]
p s[:count] == s[:young_count] + s[:full_count]

before = GC.stat(:full_count)
GC.start
p GC.stat(:full_count) > before
before = GC.count
p GC.start(full_mark: false, immediate_sweep: false)
p GC.count > before
pauses = GC.stat(:pause_full)
p pauses.is_a?(Hash), pauses.keys.all?(Float), pauses.keys == pauses.keys.sort, pauses.values.sum >= 1
p %i[pause_young pause_window time_to_safepoint].map { |k| GC.stat(k).class }
w = GC.stat(:workers)
p w.is_a?(Array), w.size >= 1, w[0][:worker], w.all? { |x| x.values.all?(Integer) }
p w.sum { |x| x[:window_count] } <= GC.stat(:window_count)

[[7], ["count"], [[]]].each do |args|
  GC.stat(*args)
rescue TypeError => e
  puts e.message
end
begin
  GC.stat(:foo)
rescue ArgumentError => e
  puts e.message
end

allocated = GC.stat(:total_allocated_objects)
keep = Array.new(500) { Object.new }
p GC.stat(:total_allocated_objects) - allocated >= 500
GC.start
p GC.stat(:heap_live_slots) >= 500
keep = nil

# --- the rest of GC ---------------------------------------------------------
one = GC.stat_heap(0)
p one[:slot_size].is_a?(Integer), GC.stat_heap(0, :slot_size) == one[:slot_size], GC.stat_heap.keys.first
p GC.stat_heap(1, {}).key?(:heap_eden_pages), GC.stat_heap(nil, {}).key?(1)
[[0, :foo], [1000], ["x"], [nil, :slot_size]].each do |args|
  GC.stat_heap(*args)
rescue ArgumentError, TypeError => e
  puts "#{e.class}: #{e.message}"
end

GC.start
i = GC.latest_gc_info
p i.keys.first(6), i[:state], i[:pause_ns] > 0
p %i[method stress].include?(i[:gc_by]), [:force, nil].include?(i[:major_by]), GC.latest_gc_info(:gc_by).class
p GC.latest_gc_info({}).key?(:major_by)
begin
  GC.latest_gc_info(:nothing)
rescue ArgumentError => e
  puts e.message
end

p GC.total_time.is_a?(Integer), GC.measure_total_time
GC.measure_total_time = false
t = GC.total_time
GC.start
p GC.total_time == t, GC.measure_total_time
GC.measure_total_time = true
GC.start
p GC.total_time > t

shape = { considered: {}, moved: {}, moved_up: {}, moved_down: {} }
p GC.compact == shape, GC.latest_compact_info == shape, GC.verify_compaction_references(toward: :empty, expand_heap: true) == shape
p GC.auto_compact, (GC.auto_compact = true), GC.auto_compact
GC.auto_compact = false
p GC::INTERNAL_CONSTANTS.frozen?, GC::INTERNAL_CONSTANTS[:HEAP_PAGE_SIZE].is_a?(Integer), GC::OPTS
p GC.config[:implementation], GC.config(foo: 1) == GC.config
p GC.disable, GC.disable, GC.enable, GC.enable
# Without full ones of its own accord: what is asked for is done.
GC.config(rgengc_allow_full_mark: false)
before = GC.stat(:full_count)
kept = []
80.times { kept << "x" * 1_000_000 }
p GC.stat(:full_count) - before, GC.config[:rgengc_allow_full_mark]
GC.start
p GC.stat(:full_count) > before, GC.config(rgengc_allow_full_mark: true)[:rgengc_allow_full_mark]
kept = nil

p GC::Profiler.enabled?, GC::Profiler.result, GC::Profiler.enable, GC::Profiler.enabled?
3.times { GC.start }
GC::Profiler.disable
raw = GC::Profiler.raw_data
p raw.size >= 3, raw.last.keys.first(4), GC::Profiler.total_time > 0.0
p raw.sum { |r| r[:GC_TIME] } <= GC::Profiler.total_time + 1e-9
GC::Profiler.enable
text = GC::Profiler.result
p text.lines.first =~ /\AGC \d+ invokes\.\n\z/, text.lines.size >= 5
p GC::Profiler.disable, GC::Profiler.clear, GC::Profiler.raw_data, GC::Profiler.total_time

# --- ObjectSpace ------------------------------------------------------------
c = ObjectSpace.count_objects
p c[:TOTAL] == c.sum { |k, v| k == :TOTAL ? 0 : v }, c[:T_STRING] > 5, c[:T_CLASS] > 50, c[:T_MODULE] > 5
h = { T_STRING: 0, OTHER: 5 }
p ObjectSpace.count_objects(h).equal?(h), h[:T_STRING] > 5
begin
  ObjectSpace.count_objects(1)
rescue TypeError => e
  puts e.message
end

class Seen; end
seen = Array.new(3) { Seen.new }
seen << Class.new(Seen).new
p ObjectSpace.each_object(Seen) { }, ObjectSpace.each_object(Seen).to_a.size
p ObjectSpace.each_object(Class).include?(Seen), ObjectSpace.each_object(Seen.singleton_class).to_a.include?(Seen)
# Another thread's own objects are found, and stay whole when both use them.
q = Queue.new
t = Thread.new do
  mine = Seen.new
  mine.instance_variable_set(:@list, [1, 2, 3])
  q << :ready
  Thread.pass until $found
  mine.instance_variable_get(:@list) << 4
  mine.instance_variable_get(:@list).sum
end
q.pop
$found = ObjectSpace.each_object(Seen).select { |o| o.instance_variable_defined?(:@list) }
p $found.size, t.value, $found[0].instance_variable_get(:@list)

require "objspace"
p ObjectSpace.memsize_of("x" * 10_000) > 10_000, ObjectSpace.memsize_of(1), ObjectSpace.memsize_of(nil)
p ObjectSpace.memsize_of([1] * 1000) >= 8000, ObjectSpace.memsize_of_all(Seen) > 0
p ObjectSpace.count_objects_size[:TOTAL] > 10_000
a, b = Object.new, Object.new
r = ObjectSpace.reachable_objects_from([a, { b => a }])
p r.include?(a), r.include?(Array), r.size, ObjectSpace.reachable_objects_from(:a)
p ObjectSpace.dump("q\"\n").include?('"value":"q\"\u000a"'), ObjectSpace.dump(nil), ObjectSpace.dump(42)

# --- finalizers and weak references --------------------------------------------
log = []
def finalizer(log) = proc { |id| log << id }
ids = 20.times.map do
  o = Object.new
  f = finalizer(log)
  ObjectSpace.define_finalizer(o, f)
  ObjectSpace.define_finalizer(o, f.dup)
  o.object_id
end
undone = Object.new
ObjectSpace.define_finalizer(undone, finalizer(log))
ObjectSpace.undefine_finalizer(undone)
undone = nil
GC.start
GC.start
p log.size >= 15, (log - ids).empty?, log.uniq.size == log.size

map = ObjectSpace::WeakMap.new
kept = Object.new
map[kept] = "v".dup
held = map[kept]
40.times { map[Object.new] = Object.new }
GC.start
p map.size < 20, map[kept], map.key?(kept)
keys = ObjectSpace::WeakKeyMap.new
name = "a key".dup
keys[name] = [1]
40.times { |i| keys["other #{i}"] = [i] }
GC.start
p keys["a key"], keys.getkey("a key").equal?(name)
require "weakref"
strong = "still here".dup
refs = [WeakRef.new(strong)] + Array.new(25) { |i| WeakRef.new("gone #{i}") }
GC.start
p refs[0].weakref_alive?, refs[0].to_s, refs.count(&:weakref_alive?) < 20
