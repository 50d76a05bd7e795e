# nodes: 2
# What happens under a key of another node.
S = Kumihimo::Segments
if S.node == "node2"
  S.local.take("end", timeout: 60)
  exit
end
two = S["node2"]
def show(event) = event && [event.what, event.index, event.value, event.missed]

watch = two.watch("w")
two.put("w", { a: [1] })
two.update("w", "b")
two.put("w", [2], move: true)
two.take("w")
run = Class.new(Kumihimo::CodeSegment) { input :w, take: "w", from: "node2"; def run = raise("never mind") }
begin
  $stderr = File.open(File::NULL, "w")
  run.start.join(timeout: 20)
rescue RuntimeError
ensure
  $stderr = STDERR
end
two.take("w")
two.put("w", nil, ttl: 0.001)
events = 9.times.map { watch.next(timeout: 20) }
events.each { |event| p show(event) }
p events[0].value.frozen?, Ractor.shareable?(events[1]), events[0].class
begin
  watch.next(timeout: 0.01)
rescue S::TimeoutError => error
  puts error.message
end
begin
  watch.next(timeout: -1)
rescue S::TimeoutError => error
  puts error.message
end

# From before it was watched nothing is told; each of several watches hears all.
key = two.key("n")
key.put(0)
both = [key.watch, two.watch("n", limit: 5)]
key.from(1..3)
p both.map { |w| Array.new(3) { w.next(timeout: 20).value } }

# Who reads too slowly misses the oldest.
slow = two.watch("many", limit: 3)
first = Thread.new { slow.next(timeout: 20) }
two.key("many").from(1..1)
p show(first.value)
# What was asked for already has gone: the rest is kept there.
two.key("many").from(2..200)
found = []
found << slow.next(timeout: 20) until found.last&.value == 200
p found.sum(&:missed) + found.size, found.size < 20, found.map(&:index) == found.map(&:index).sort

# Closing ends it, also for who waits.
waits = Thread.new { watch.next }
Thread.pass until waits.status == "sleep"
watch.close
p waits.value, watch.next, watch.next(timeout: 1), watch.close
p both[0].first(0), both.each(&:close).map { |w| w.next }

# Wrong arguments, and bounds.
[0, -1, 1.5, nil, "3"].each do |limit|
  two.watch("n", limit:)
rescue ArgumentError => error
  puts error.message
end
begin
  two.watch(3)
rescue TypeError => error
  puts error.message
end
begin
  two.watch("x" * 2000)
rescue ArgumentError => error
  puts error.message
end
kept = []
begin
  300.times { kept << two.watch("n") }
rescue S::Full => error
  puts error.message
end
p kept.size > 200
kept.each(&:close)
p show(two.watch("n", limit: 10**30).tap { key.put(9) }.next(timeout: 20))
# This node's own is the local one.
own = S["node1"].watch("own")
S.local.put("own", 1)
p own.class, show(own.next(timeout: 20))

# Many events, in order, while they come.
many = two.watch("fast", limit: 10_000)
feeder = Thread.new { two.key("fast").from(1..3000) }
p (1..3000).all? { |i| many.next(timeout: 20).value == i }
feeder.join
two.put("end", 1)
begin
  many.next(timeout: 30)
rescue S::NodeLost, S::NotConnected
  puts "the node is gone"
end
