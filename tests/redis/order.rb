# Lists that are put where the queue is limited stand in their order, whatever becomes of the limit and of others meanwhile.
require "kumihimo/segments"
S = Kumihimo::Segments
store = S.connect(ARGV[0])

def in_order?(values) = values.group_by { |v| v / 1000 }.all? { |_, part| part == part.sort }

[1, 5, 50].each do |limit|
  key = store.key("limited#{limit}").limit(limit)
  writers = Array.new(3) { |w| Thread.new { key.from(w * 1000...w * 1000 + 300) } }
  readers = Array.new(2) { Thread.new { Array.new(450) { key.take(timeout: 30) } } }
  seen = readers.map(&:value)
  p writers.sum(&:value), seen.all? { |values| in_order?(values) }, seen.flatten.sort == [0, 1000, 2000].flat_map { |from| (from...from + 300).to_a }
end

# The limit comes and goes, and some who wait are gone.
key = store.key("changes")
writers = Array.new(3) { |w| Thread.new { key.from(w * 1000...w * 1000 + 200) } }
gone = Array.new(3) do |w|
  Thread.new do
    key.put(9000 + w, timeout: 0.01 * w)
  rescue S::TimeoutError
    # There was no room.
  end
end
limits = Thread.new { 60.times { |i| key.limit([1, nil, 3, 20][i % 4]) } && key.limit(2) }
seen = []
seen << key.take(timeout: 30) until seen.count { |v| v < 9000 } == 600
[*writers, *gone, limits].each(&:join)
p in_order?(seen.select { |v| v < 9000 }), key.limit(nil).stat[:waiting_puts]
