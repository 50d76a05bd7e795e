# A node with many objects that others hold, and many of others; or as many of its own instead. usage: kumi node NAME .. tables.rb [PEER]
#
# Reads "hold N": N objects of its own twice; "exchange N": N of its own that the peer holds, and N of the peer's; "full N": nanoseconds
# of N full collections.
require "kumihimo/remote"

class Box
  include Kumihimo::Remote
end

class Desk
  include Kumihimo::Remote
  def initialize = @all = []
  def take(boxes) = (@all.concat(boxes); nil)
  # Nobody else holds them.
  def give(n) = Array.new(n) { Box.new }
end

Kumihimo::Remote.register("desk", Desk.new)
desk = Kumihimo::Remote.find("desk", on: ARGV[0]) if ARGV[0]
kept = []
puts "ready"
$stdout.flush
while (line = $stdin.gets)
  what, n = line.split
  n = n.to_i
  case what
  when "hold"
    kept << Array.new(n) { Box.new } << Array.new(n) { Box.new }
    puts 0
  when "exchange"
    theirs = []
    (n / 1000).times do
      desk.take(Array.new(1000) { Box.new })
      theirs.concat(desk.give(1000))
    end
    kept << theirs
    puts GC.stat(:cluster).values_at(:exports, :imports).join(" ")
  when "full"
    times = Array.new(n) do
      GC.start
      GC.latest_gc_info(:pause_ns)
    end
    puts times.join(" ")
  end
  $stdout.flush
end
exit!(0)
