# What handing over costs by the size of what is handed over. The first line is the figures.
# first SHAPE N ROUNDS: the first put of a fresh graph of some N objects. Prints nanoseconds an object (the median round), and objects.
# move SHAPE N ROUNDS: the same with move: true.
# again N COUNT: later puts of the same frozen array of N elements; nanoseconds a put.
# flip-owned N COUNT, flip-shared N COUNT: code segments one after the other that flip the array of N elements that they took, owned or
# shared; nanoseconds of a flip (the median by the clock, less what the clock takes), and of a whole code segment.
# flips N COUNT, puts N COUNT, copies N COUNT: the paper's table 3: one code segment adds COUNT segments, by flip of a shared input, by put
# of the same value, or by put of a fresh copy each; nanoseconds each.
# usage: handover.rb MODE ...
require "kumihimo/segments"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
def median(list) = list.sort[list.size / 2]

Point = Struct.new(:x, :y)

class Item
  def initialize(name, tags, at)
    @name = name
    @tags = tags
    @at = at
  end
end

# Graphs of some n objects, and how many they are.
SHAPES = {
  "strings" => ->(n) { [Array.new(n - 1) { |i| "s#{i}" }, n] },
  "arrays" => ->(n) { [Array.new(n - 1) { |i| [i, i] }, n] },
  "tree" => lambda do |n|
    count = 0
    grow = lambda do |size|
      count += 1
      size < 10 ? [size] : Array.new(9) { grow.(size / 9) }
    end
    [grow.(n), count]
  end,
  "hashes" => ->(n) { [Array.new(n / 2) { |i| { id: i, name: "n#{i}" } }, n / 2 * 2 + 1] },
  "structs" => ->(n) { [Array.new(n - 1) { |i| Point.new(i, i) }, n] },
  "objects" => ->(n) { [Array.new(n / 4) { |i| Item.new("n#{i}", ["a#{i}"], i) }, n / 4 * 4 + 1] },
  "list" => ->(n) { list = nil; n.times { |i| list = [i, list] }; [list, n] }
}.freeze

def first(shape, n, rounds, move)
  key = Kumihimo::Segments.local.key("n")
  objects = 0
  times = Array.new(rounds) do
    graph, objects = SHAPES.fetch(shape).(n)
    from = now
    key.put(graph, move: move)
    taken = now - from
    graph = nil
    key.take
    taken
  end
  [median(times) / objects.to_f, objects]
end

# A round takes some tenth of a second at most.
def fitting(count, once) = (100_000_000 / [once, 1].max).clamp(1, count)

def again(n, count)
  key = Kumihimo::Segments.local.key("n")
  value = Array.new(n) { |i| [i] }
  key.put(value)
  from = now
  key.put(value)
  count = fitting(count, now - from)
  times = Array.new(11) do
    from = now
    count.times { key.put(value) }
    taken = now - from
    key.size.times { key.take }
    taken / count.to_f
  end
  [median(times)]
end

# Flips its part on under its own key, so that the next one finds it.
class Flips < Kumihimo::CodeSegment
  input :part, take: "part"
  TIMES = []
  def run
    from = now
    flip :part
    TIMES << now - from
  end
end

def flip_on(n, count, move)
  value = Array.new(n) { |i| [i] }
  Kumihimo::Segments.local.put("part", value, move: move)
  value = nil
  runs = 0
  from = now
  Flips.repeat { (runs += 1) >= count }.join
  taken = now - from
  clocks = Array.new(count) do
    at = now
    now - at
  end
  [[median(Flips::TIMES) - median(clocks), 0].max, taken / count.to_f]
end

# Adds so many segments in one run (table 3).
class Adds < Kumihimo::CodeSegment
  input :part, peek: "part"
  attr_reader :taken
  def initialize(how, count)
    @how = how
    @count = count
  end

  def run
    from = now
    case @how
    when "flips" then @count.times { flip :part, to: "out" }
    when "puts" then @count.times { put "out", part }
    else @count.times { put "out", part.dup }
    end
    @from = from
  end

  def since_start = now - @from
end

def add(how, n, count)
  ds = Kumihimo::Segments.local
  ds.put("part", Array.new(n) { |i| i })
  run = lambda do |many|
    segment = Adds.start(how, many).join
    taken = segment.since_start
    abort "#{ds.size("out")} of #{many} were added" unless ds.size("out") == many
    many.times { ds.take("out") }
    taken
  end
  count = fitting(count, run.(1))
  [Array.new(5) { run.(count) }.min / count.to_f, count]
end

mode, *words = ARGV
figures =
  case mode
  when "first", "move" then first(words[0], Integer(words[1]), Integer(words[2]), mode == "move")
  when "again" then again(Integer(words[0]), Integer(words[1]))
  when "flip-owned", "flip-shared" then flip_on(Integer(words[0]), Integer(words[1]), mode == "flip-owned")
  when "flips", "puts", "copies" then add(mode, Integer(words[0]), Integer(words[1]))
  else abort "handover.rb: no mode #{mode}"
  end
puts figures.join(" ")
$stdout.flush
exit!(0)
