# What once made slices of a collection long: very many threads, long lists, lists that are changed while they are half marked.
# `KUMI_GC=interruptible kumi long_stops.rb WHAT SIZE [COLLECTIONS]`; WHAT is threads, array, hash, shift or stored. Prints the stops of as
# many full collections in slices, one after the other, beside which the program allocates.
what = ARGV[0]
size = Integer(ARGV[1])
collections = Integer(ARGV[2] || 10)

case what
when "threads"
  queue = Queue.new
  $keep = Array.new(size) { Thread.new { queue.pop } }
  sleep 0.1 until queue.num_waiting == size
when "array", "shift", "stored" then $keep = Array.new(size) { |i| [i] }
when "hash"
  $keep = {}
  size.times { |i| $keep["k#{i}"] = [i] }
else abort "threads, array, hash, shift or stored, not #{what}"
end

GC.start
before = GC.stat
collections.times do
  cycles = GC.stat[:cycle_count]
  GC.start(immediate_mark: false)
  while GC.stat[:cycle_count] == cycles
    200.times { |i| $litter = [i.to_s] }
    20.times { $keep << $keep.shift } if what == "shift"
    20.times { |i| $keep[i * size / 20] = [i] } if what == "stored"
  end
end
after = GC.stat
stops = GC.stat(:pause_slice)
seen = 0
percentile = stops.find { |_, count| (seen += count) >= stops.values.sum * 0.99 }[0]
puts format("%s, %d: %d slices, 99th percentile %.2f ms, longest %.2f ms, %d of %d by the last resort", what, size,
            after[:slice_count] - before[:slice_count], percentile / 1e3, after[:pause_slice_max_ns] / 1e6,
            after[:cycle_hurried_count] - before[:cycle_hurried_count], collections)
