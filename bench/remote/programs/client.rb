# Calls an object of another node. Obeys lines on standard input (bench/lib/obey.rb), in nanoseconds:
# call N: an Integer there, the next one back, one after the other. local N: the same of an object of this node, mean alone. futures N: N
# calls under way at a time; threads N T: by so many threads; both of one call, as a whole. waits N: N calls that all wait there before any
# is answered: until they do, until all are answered, and megabytes of this process and the other one's then.
# references N: N new objects of the other node, held, and dropped: of one, made and come; dropped, until the other node has released it;
# messages and bytes of both nodes' tables from the drop on.
# usage: kumi node NAME --listen ADDR --join ADDR client.rb OWNER
require "kumihimo/remote"
require_relative "../../lib/obey"

class Counter
  include Kumihimo::Remote
  def next(n) = n + 1
end

THERE = Kumihimo::Remote.find("counter", on: ARGV[0])
HERE = Kumihimo::Remote.export(Counter.new)

def megabytes = File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i / 1024.0

def call(n) = timed(n) { |i| THERE.next(i) }

def local(n)
  whole(n) do
    i = 0
    while i < n
      HERE.next(i)
      i += 1
    end
  end
end

def futures(n)
  whole(n) do
    all = Array.new(n) { |i| THERE.async.next(i) }
    raise "wrong" unless all.sum(&:value) == n * (n + 1) / 2
  end
end

def threads(n, count)
  each = n / count
  whole(each * count) { Array.new(count) { Thread.new { each.times { |i| THERE.next(i) } } }.each(&:join) }
end

def waits(n)
  from = now
  all = Array.new(n) { |i| THERE.async.pass(i) }
  sleep 0.001 until THERE.waiting == n
  waiting = now - from
  used = [megabytes, THERE.megabytes]
  THERE.open(n)
  raise "wrong" unless Kumihimo.all(all) == (0...n).to_a
  [waiting, now - from, *used]
end

# Packets and bytes of both nodes' tables.
def said = [GC.stat(:cluster).values_at(:packets, :bytes), THERE.said].transpose.map(&:sum)

def references(n)
  from = now
  held = THERE.make(n)
  come = now - from
  raise "wrong" unless held.last.next(1) == 2
  before = said
  exports = THERE.exports
  held = nil
  from = now
  GC.start
  sleep 0.001 until THERE.exports <= exports - n + 10
  dropped = now - from
  [come / n.to_f, dropped / n.to_f, *said.zip(before).map { |a, b| (a - b) / n.to_f }]
end

obey { |word, *rest| __send__(word, *rest.map { |w| Integer(w) }) }
