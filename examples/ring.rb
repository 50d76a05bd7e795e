# A token goes round a ring of code segments (the paper's Ring). Each takes it under its own key and hands it to the next one. Over nodes,
# the last one of each hands it to the first one of its right neighbour.
#
#   kumi examples/ring.rb [MEMBERS] [ROUNDS]
#   kumi run --nodes 4 examples/ring.rb [MEMBERS ON EACH NODE] [ROUNDS]
require "kumihimo/segments"

NODES = Kumihimo::Segments.cluster? ? Kumihimo::Segments.nodes.sort : [nil]
RIGHT = NODES[0] && Kumihimo.topology.right
MEMBERS = Integer(ARGV[0] || (NODES[0] ? "1" : "10"), 10, exception: false) || 0
ROUNDS = Integer(ARGV[1] || "1000", 10, exception: false) || 0
abort "usage: kumi examples/ring.rb [MEMBERS] [ROUNDS]" unless MEMBERS.positive? && ROUNDS.positive?
AROUND = MEMBERS * NODES.size
KEYS = Array.new(MEMBERS) { |i| Kumihimo::Segments.local.key("ring.#{i}") }
TIMES = [] # when the token came to the first member here

class Member < Kumihimo::CodeSegment
  input :token, take: nil

  def initialize(number)
    @number = number
    set_key(:token, KEYS[number])
  end

  def run
    TIMES << Process.clock_gettime(Process::CLOCK_MONOTONIC) if @number.zero?
    token[:hops] += 1
    return flip(:token, to: "home", on: NODES[0]) if token[:hops] == AROUND * ROUNDS
    # It waits for the token's next round before it lets it go.
    Member.start(@number)
    @number + 1 < MEMBERS ? flip(:token, to: KEYS[@number + 1]) : flip(:token, to: "ring.0", on: RIGHT)
  end
end

MEMBERS.times { |i| Member.start(i) }
ds = Kumihimo::Segments.local
if NODES[0] == Kumihimo::Segments.node
  ds.put("ring.0", { hops: 0 }, move: true)
  token = ds.take("home")
  puts "#{token[:hops]} hops round a ring of #{AROUND}#{" on #{NODES.size} nodes" if NODES.size > 1}"
  TIMES << Process.clock_gettime(Process::CLOCK_MONOTONIC)
  rounds = TIMES.each_cons(2).map { |from, to| to - from }.sort
  puts format("%.2f s, %.2f us a hop in the median of the rounds", TIMES.last - TIMES.first, rounds[rounds.size / 2] * 1e6 / AROUND)
  # The others leave first.
  ds.put("over", true)
  sleep 0.02 until NODES.size == 1 || Kumihimo::Segments.nodes.size == 1
else
  Kumihimo::Segments[NODES[0]].peek("over")
  # The last run here may not have heard yet that the next node has the token.
  Kumihimo::Segments.settle
  Kumihimo::Segments.leave
end
