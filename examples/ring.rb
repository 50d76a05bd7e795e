# A token goes round a ring of code segments (the paper's Ring, on one node). Each takes it under its own key and hands it to the next.
#
#   kumi examples/ring.rb [MEMBERS] [ROUNDS]
require "kumihimo/segments"

MEMBERS = Integer(ARGV[0] || "10", 10)
ROUNDS = Integer(ARGV[1] || "1000", 10)
abort "usage: kumi examples/ring.rb [MEMBERS] [ROUNDS]" unless MEMBERS.positive? && ROUNDS.positive?
KEYS = Array.new(MEMBERS) { |i| Kumihimo::Segments.local.key("ring.#{i}") }

class Member < Kumihimo::CodeSegment
  input :token, take: nil

  def initialize(number)
    @number = number
    set_key(:token, KEYS[number])
  end

  def run
    token[:hops] += 1
    return flip(:token, to: "home") if token[:hops] == MEMBERS * ROUNDS
    # It waits for the token's next round before it lets it go.
    Member.start(@number)
    flip :token, to: KEYS[(@number + 1) % MEMBERS]
  end
end

MEMBERS.times { |i| Member.start(i) }
began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
KEYS[0].put({ hops: 0 }, move: true)
token = Kumihimo::Segments.local.take("home")
seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
puts "#{token[:hops]} hops round a ring of #{MEMBERS}"
puts format("%.2f s, %.2f us a hop", seconds, seconds * 1e6 / token[:hops])
