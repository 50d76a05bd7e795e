# The paper's bitonic sort: a million numbers in ten parts. Each part is an owned data segment. A code segment sorts it, then a network of
# code segments compares parts by two: of both, one gets the smaller half and the other the larger one.
#
# Ten is no power of two, for which Batcher's bitonic network is made. The one here is Lang's for any number: each half is sorted, the first one
# downwards, and the merge begins with the largest power of two below the number. A network that sorts all lists of 0 and 1 sorts
# everything (the 0-1 principle); the program tries all 1,024 of them first. Sorted parts of one size may stand for single numbers, and
# merging two of them and cutting the result in the middle for a comparison (Knuth, volume 3, 5.3.4).
#
#   kumi examples/bitonic.rb [NUMBERS] [PARTS]
require "kumihimo/segments"

# The comparisons for `count` lines: pairs of a line that gets the smaller and one that gets the larger.
module Network
  def self.of(count) = [].tap { |pairs| sort(0, count, true, pairs) }

  def self.sort(first, count, up, pairs)
    return if count < 2
    half = count / 2
    sort(first, half, !up, pairs)
    sort(first + half, count - half, up, pairs)
    merge(first, count, up, pairs)
  end

  def self.merge(first, count, up, pairs)
    return if count < 2
    step = 1 << ((count - 1).bit_length - 1)
    first.upto(first + count - step - 1) { |i| pairs << (up ? [i, i + step] : [i + step, i]) }
    merge(first, step, up, pairs)
    merge(first + step, count - step, up, pairs)
  end

  # Does it sort all lists of 0 and 1?
  def self.sorts?(pairs, count)
    (0...1 << count).all? do |bits|
      pairs.each { |small, large| bits ^= 1 << small | 1 << large if bits[small] > bits[large] }
      # All ones stand behind all zeros.
      (bits + (bits & -bits))[0, count] == 0
    end
  end
end

class SortPart < Kumihimo::CodeSegment
  input :part, take: nil

  def initialize(line)
    @line = line
    set_key(:part, "part.#{line}")
  end

  def run
    part.sort!
    flip :part, to: "line.#{@line}.0"
  end
end

class Compare < Kumihimo::CodeSegment
  input :small, take: nil
  input :large, take: nil

  # Each line has a key for each comparison that it goes through.
  def initialize(small, large, step)
    @to = [small, large].map { |line| "line.#{line}.#{step[line] + 1}" }
    set_key(:small, "line.#{small}.#{step[small]}")
    set_key(:large, "line.#{large}.#{step[large]}")
    step[small] += 1
    step[large] += 1
  end

  def run
    size = small.size
    unless small.last <= large.first
      small.concat(large).sort!
      large.replace(small.slice!(size..))
    end
    flip :small, to: @to[0]
    flip :large, to: @to[1]
  end
end

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

numbers = Integer(ARGV[0] || "1000000", 10, exception: false) || 0
parts = Integer(ARGV[1] || "10", 10, exception: false) || 0
abort "usage: kumi examples/bitonic.rb [NUMBERS] [PARTS]; parts of one size" unless parts.between?(1, 16) && numbers.positive? && numbers % parts == 0

network = Network.of(parts)
puts "#{network.size} comparisons of #{parts} parts, #{Network.sorts?(network, parts) ? "which sort" : "which do not sort"} all #{1 << parts} lists of 0 and 1"

random = Random.new(1)
list = Array.new(numbers) { random.rand(1 << 40) }
expected = list.sum

ds = Kumihimo::Segments.local
began = clock
# The whole network waits; what is put sets it going.
parts.times { |line| SortPart.start(line) }
step = Array.new(parts, 0)
network.each { |small, large| Compare.start(small, large, step) }
list.each_slice(numbers / parts).with_index { |part, line| ds.put("part.#{line}", part, move: true) }
sorted = Array.new(parts) { |line| ds.take("line.#{line}.#{step[line]}") }.flatten
seconds = clock - began

puts "#{numbers} numbers #{sorted.each_cons(2).all? { |a, b| a <= b } && sorted.sum == expected ? "are sorted" : "are NOT sorted"}"
puts format("%.2f s", seconds)
