# The latency of a take of a present segment while N code segments wait under keys of their own. Prints nanoseconds: median and 99th
# percentile of a take by the key's object, of one by name under a thousand keys in turn, and of reading the clock alone.
# usage: waiters.rb N SAMPLES
require "kumihimo/segments"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

class Waits < Kumihimo::CodeSegment
  input :value, take: nil
  def initialize(key) = set_key(:value, key)
  def run = nil
end

def percentiles(list)
  list.sort!
  [list[list.size / 2], list[list.size * 99 / 100]]
end

waiting = Integer(ARGV[0] || 10)
samples = Integer(ARGV[1] || 10_000)
ds = Kumihimo::Segments.local
waiting.times { |i| Waits.start("wait.#{i}") }
key = ds.key("here")
names = Array.new(1000) { |i| "here.#{i}" }
GC.start

times = Array.new(samples, 0)
take = lambda do
  samples.times { |i| key.put(i) }
  samples.times do |i|
    from = now
    key.take
    times[i] = now - from
  end
  percentiles(times.dup)
end
named = lambda do
  samples.times { |i| ds.put(names[i % 1000], i) }
  samples.times do |i|
    name = names[i % 1000]
    from = now
    ds.take(name)
    times[i] = now - from
  end
  percentiles(times.dup)
end
clock = lambda do
  samples.times do |i|
    from = now
    times[i] = now - from
  end
  percentiles(times.dup)
end
runs = [take, named, clock]
runs.each(&:call)
puts runs.flat_map(&:call).join(" ")
$stdout.flush
exit!(0)
