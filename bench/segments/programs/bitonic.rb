# Sorts N numbers in PARTS parts: a code segment sorts each part, then Batcher's merge exchange (Knuth 5.2.2 M), which serves any number
# of parts, joins and splits them in pairs. Each pair is a code segment that starts when both of its parts are there. Parts are
# owned segments: flip hands the same array on (flip), or a copy is put (put, as before the paper's flip). Prints seconds, for ROUNDS
# rounds the median, and processor seconds of one. Collections come when they come: a GC.start before each round would give its memory back to the
# system, and the round would begin with page faults for all of it.
# usage: bitonic.rb flip|put N PARTS ROUNDS
require "kumihimo/segments"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# The pairs of parts to be joined and split, in order.
def exchanges(parts)
  pairs = []
  top = 1
  top *= 2 while top * 2 < parts
  p = top
  while p > 0
    q, r, d = top, 0, p
    loop do
      (0...parts - d).each { |i| pairs << [i, i + d] if i & p == r }
      break if q == p
      d, q, r = q - p, q / 2, p
    end
    p /= 2
  end
  pairs
end

# How a part goes on.
module HandsOn
  def hand_on(name, to)
    FLIP ? flip(name, to: to) : put(to, input(name).value.dup, move: true)
  end
end

class SortPart < Kumihimo::CodeSegment
  include HandsOn
  input :part, take: nil
  def initialize(part)
    set_key(:part, "part.#{part}.raw")
    @to = "part.#{part}.0"
  end

  def run
    part.sort!
    hand_on :part, @to
  end
end

# Leaves the lower half of two parts in the first and the upper in the second.
class Exchange < Kumihimo::CodeSegment
  include HandsOn
  input :low, take: nil
  input :high, take: nil
  # Parts, and how many exchanges each has behind it.
  def initialize(low, low_done, high, high_done)
    set_key(:low, "part.#{low}.#{low_done}")
    set_key(:high, "part.#{high}.#{high_done}")
    @low_to = "part.#{low}.#{low_done + 1}"
    @high_to = "part.#{high}.#{high_done + 1}"
  end

  def run
    size = low.size
    if low.last > high.first
      # Two runs in a row: the sort merges them.
      low.concat(high).sort!
      high.replace(low.slice!(size..))
    end
    hand_on :low, @low_to
    hand_on :high, @high_to
  end
end

FLIP = ARGV[0] != "put"
n = Integer(ARGV[1] || 100_000)
parts = Integer(ARGV[2] || 10)
rounds = Integer(ARGV[3] || 3)
pairs = exchanges(parts)
ds = Kumihimo::Segments.local

sort = lambda do |random|
  size = n / parts
  whole = Array.new(size * parts) { random.rand(1 << 40) }
  sum = whole.sum
  slices = Array.new(parts) { |i| whole[i * size, size] }
  whole = nil
  from, cpu = now, Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  # What can run is put first: a second worker begins while the exchanges are started.
  parts.times { |i| SortPart.start(i) }
  parts.times { |i| ds.put("part.#{i}.raw", slices[i], move: true) }
  slices = nil
  done = Array.new(parts, 0)
  pairs.each do |low, high|
    Exchange.start(low, done[low], high, done[high])
    done[low] += 1
    done[high] += 1
  end
  sorted = Array.new(parts) { |i| ds.take("part.#{i}.#{done[i]}") }
  taken = [now - from, Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - cpu]
  all = sorted.flatten
  abort "not sorted" unless all.size == size * parts && all.sum == sum && all.each_cons(2).all? { |a, b| a <= b }
  taken
end

random = Random.new(1)
sort.(Random.new(2)) if rounds > 1
times = Array.new(rounds) { sort.(random) }.sort
puts times[times.size / 2].join(" ")
$stdout.flush
exit!(0)
