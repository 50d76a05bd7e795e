# How long calls of another node's object take while that node makes full collections with LIVE MB alive, one after the other.
# Prints a line of JSON: percentiles of CALLS calls in milliseconds, the full collections meanwhile.
# usage: kumi run --nodes 2 called.rb [live=200] [calls=5000] [collect=1]
require "kumihimo/remote"
require_relative "gcstat"

class Called
  include Kumihimo::Remote
  def next(n) = n + 1
  def collections = GC.stat[:full_count]
end

words = ARGV.to_h { |a| a.split("=", 2) }
live = Integer(words["live"] || 200)
calls = Integer(words["calls"] || 5000)
first = Kumihimo::Cluster.nodes.first
if Kumihimo::Cluster.self == first
  keep = Array.new(live * 7_500) { |i| [i, "text #{i} that is longer than fits into the cell"] }
  Kumihimo::Remote.register("called", Called.new)
end
Kumihimo::Cluster.barrier
if Kumihimo::Cluster.self == first
  over = false
  collector = Thread.new do
    until over || words["collect"] == "0"
      count = GC.stat[:full_count]
      GC.start(immediate_mark: false)
      sleep 0.001 while GC.stat[:full_count] == count
      sleep 0.01
    end
  end
  Kumihimo::Cluster.barrier
  over = true
  collector.join
else
  there = Kumihimo::Remote.find("called", on: first)
  before = there.collections
  times = Array.new(calls) do |i|
    sleep 0.001
    from = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    raise "wrong" unless there.next(i) == i + 1
    (Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - from) / 1e6
  end.sort
  at = ->(q) { times[(times.size * q).floor.clamp(0, times.size - 1)].round(3) }
  puts GcStat.json("calls" => calls, "full" => there.collections - before, "p50" => at.(0.5), "p99" => at.(0.99), "p999" => at.(0.999), "max" => at.(1.0))
  Kumihimo::Cluster.barrier
end
