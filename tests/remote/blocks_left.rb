# nodes: 2
# Calls of blocks whose callers are gone by then: none of them stays under way, for whoever has made it or on the node that it came to.
R = Kumihimo::Remote
S = Kumihimo::Segments
class Box
  include R
  def each(count) = count.times { |i| yield i }
  # Its threads go on to call the block when it is over.
  def at_once(count) = Array.new(count) { |i| Thread.new { yield(i) rescue nil } }.first(1).each(&:join).size
  def together(count) = Array.new(count) { |i| Thread.new { yield(i) rescue nil } }.each(&:join).size
end
box = R.register("box", Box.new)
if S.node == "node2"
  S.local.take("end")
  exit
end
there = R.find("box", on: "node2")
# Each part has a time of its own, here and where its line is read.
$stdout.sync = true
none = lambda do |what|
  over = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 60
  left = nil
  until (left = R.survey[:nodes][0].values_at(:calls, :called)) == [0, 0] || Process.clock_gettime(Process::CLOCK_MONOTONIC) > over
    sleep 0.01
  end
  puts "#{what}: #{left}"
end
150.times do |i|
  caller = Thread.new { there.each(100) { nil } }
  sleep 0.0005 * (i % 4)
  caller.kill.join
end
none["killed"]
150.times { there.together(5) { |i| break if i == 2 } }
none["left by break"]
150.times { there.together(5) { raise IndexError } rescue nil }
none["left by an exception"]
150.times { |i| (R.within(0.0005 * (1 + i % 4)) { there.together(5) { sleep 0.001 } } rescue nil) }
none["late"]
150.times { there.at_once(5) { nil } }
none["over before its threads"]
S["node2"].put("end", 1)
