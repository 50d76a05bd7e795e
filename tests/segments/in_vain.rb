# A value that is handed over moves when it is stored, and not before.
require "kumihimo/segments"

ds = Kumihimo::Segments.local
waiting = ->(n) { Thread.pass until ds.stat("l")[:waiting_puts] == n }
ds.limit("l", 1)
ds.put("l", 0)
x = [1]
p ds.put?("l", x, move: true), x
p((ds.put("l", x, move: true, timeout: 0.01) rescue $!.class), x)
p((ds.put("l", x, move: true, ttl: -1) rescue $!.class), x)
p((ds.put("l", x, move: true, not_before: "soon") rescue $!.class), x)
p((ds.put(5, x, move: true) rescue $!.class), x)
p((ds.update("l", x, move: true, ttl: -1) rescue $!.class), x)
key = ds.key("l")
p key.put?(x, move: true), x

# Who waits may be ended.
thread = Thread.new { ds.put("l", x, move: true) }
waiting[1]
thread.kill.join
p x, ds.stat("l").slice(:segments, :waiting_puts)

# Room comes.
y = [2]
thread = Thread.new { ds.put("l", y, move: true) }
waiting[1]
p ds.take("l"), thread.value
p((y.size rescue $!.class), ds.take("l"))

# The oldest first, moved or not.
ds.put("l", :first)
threads = 5.times.map do |i|
  Thread.new { ds.put("l", [i], move: i.even?) }.tap { waiting[i + 1] }
end
p 6.times.map { ds.take("l") }
threads.each(&:join)
p ds.put?("l", [9], move: true), ds.put?("l", [10], move: true), ds.take("l"), ds.size("l")

# A limit that is taken away, or raised, lets them in.
ds.put("l", 0)
threads = 3.times.map { |i| Thread.new { ds.put("l", [i], move: true) }.tap { waiting[i + 1] } }
ds.limit("l", nil)
threads.each(&:join)
p 4.times.map { ds.take("l") }

# What can't travel, or can't be moved, stays.
ds.export("e")
z = [Thread.current]
p((ds.put("e", z, move: true) rescue $!.class), z.size)
p((ds.put("m", Thread.current, move: true) rescue $!.class), ds.size("m"))
p ds.put("l", "text".freeze, move: true), ds.take("l")

# Whoever puts and takes at a time: nothing is lost, and never more than the limit stand there.
ds.limit("r", 3)
most = 0
putters = 4.times.map { |t| Thread.new { 200.times { |i| ds.put("r", [t, i], move: true) } } }
taken = 800.times.map do
  most = [most, ds.size("r")].max
  ds.take("r")
end
putters.each(&:join)
p taken.group_by(&:first).transform_values { |list| list.map(&:last) == (0...200).to_a }.sort, most <= 3

# A time to live is what it was said to be, also where a value has to be read before it can travel.
require "kumihimo/xml"
class Row < Kumihimo::XTree
  field(:n) { |text| text.to_i }
end
ds.export("t")
Kumihimo::XML.each("<d><r><n>1</n></r><r><n>2</n></r></d>", "//r", Row) { |row| ds.put("t", row, ttl: 0.05) }
sleep 0.3
p ds.size("t"), ds.take?("t")
