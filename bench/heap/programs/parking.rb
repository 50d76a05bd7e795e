# What a task's stack costs when the task parks. Two threads hand a turn to each other by queues; before each wait the first one makes KEPT objects,
# a frame each, which its stack holds while it is parked (held), or which it has let go by then (dropped). All else is the same.
# Prints one line of JSON: nanoseconds of processor time of a round, and what GC.stat counted.
# usage: parking.rb held|dropped KEPT ROUNDS
require_relative "gcstat"

class Made
  attr_reader :number

  def initialize(number) = @number = number
end

class Pair
  def initialize
    @there = Queue.new
    @back = Queue.new
    @other = Thread.new { while (n = @there.pop); @back << n + 1; end }
  end

  def turn(n)
    @there << n
    @back.pop
  end

  def held(kept, n)
    return turn(n) if kept.zero?
    made = Made.new(kept)
    found = held(kept - 1, n + made.number)
    found - made.number
  end

  def dropped(kept, n)
    return turn(n) if kept.zero?
    made = Made.new(kept)
    number = made.number
    made = nil
    found = dropped(kept - 1, n + number)
    found - number
  end

  def stop
    @there << nil
    @other.join
  end
end

mode, kept, rounds = ARGV
abort "usage: parking.rb held|dropped KEPT ROUNDS" unless %w[held dropped].include?(mode) && rounds
kept, rounds = Integer(kept), Integer(rounds)
pair = Pair.new
go = ->(count) { sum = 0; count.times { |i| sum += mode == "held" ? pair.held(kept, i) : pair.dropped(kept, i) }; sum }
go.(rounds / 10)
before = GcStat.now
sum = go.(rounds)
after = GcStat.now
abort "wrong sum #{sum}" unless sum == (0...rounds).sum + rounds
puts GcStat.json("ns" => (after["cpu_s"] - before["cpu_s"]) * 1e9 / rounds, "gc" => GcStat.between(before, after))
pair.stop
