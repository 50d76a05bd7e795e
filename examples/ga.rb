# A genetic algorithm for several aims: what to put in a knapsack, where each thing has two worths and what is good for one need not be for
# the other. Looked for is the front: all choices than which none is better in both.
#
# There are islands, each with a population, and a worker on each node that has its share of them. A population lives for some generations
# by itself. Then all nodes bring their fronts together, and each island gets some of what was found anywhere.
#
# Communication: rare and synchronous. All wait for all, once in many generations.
#
# The answer is the same on any number of nodes: each island has its own random numbers, and fronts are put together in the islands' order.
#
#   kumi run --nodes 4 examples/ga.rb [--things N] [--epochs N] [--generations N] [--population N] [--islands N] [--seed N]
require_relative "support/program"

ABOUT = "A genetic algorithm for several aims: islands on all nodes, which exchange what they have found now and then."
OPTIONS = Program.options(ABOUT, things: [80, "things to choose from"], epochs: [5, "exchanges between the islands"],
                                 generations: [10, "generations from one exchange to the next"], population: [50, "choices on an island"],
                                 islands: [8, "islands"], seed: [1, "other things", 0])

RANDOM = Random.new(OPTIONS[:seed])
THINGS = Array.new(OPTIONS[:things]) { Array.new(3) { RANDOM.rand(10..100) } } # two worths and a weight
ROOM = THINGS.sum(&:last) / 2
# The order in which things are taken out again where they are too heavy: those of little worth for their weight first.
WORST = THINGS.each_index.sort_by { |n| THINGS[n].then { |a, b, weight| Rational([a, b].max, weight) } }

# A choice: a bit for each thing, and what all are worth.
Choice = Data.define(:genes, :worths) do
  # What is too heavy loses things.
  def self.of(genes)
    totals = [0, 0, 0]
    THINGS.each_with_index { |thing, n| totals = totals.zip(thing).map(&:sum) if genes[n] == 1 }
    WORST.each do |n|
      break if totals[2] <= ROOM
      next if genes[n].zero?
      genes ^= 1 << n
      totals = totals.zip(THINGS[n]).map { |total, part| total - part }
    end
    new(genes, totals.first(2))
  end

  # Is it better in one way, and not worse in the other?
  def beats?(other)
    a, b = worths
    c, d = other.worths
    a >= c && b >= d && (a > c || b > d)
  end

  # Those that none beats, one of each pair of worths; the first worth falls, the second one rises.
  def self.front(choices)
    most = -1
    sorted = choices.sort_by { |choice| [*choice.worths.map(&:-@), choice.genes] }
    sorted.select { |choice| choice.worths[1] > most && most = choice.worths[1] }
  end

  # The area below a front: the larger, the better.
  def self.area(front)
    below = 0
    front.map(&:worths).sum { |a, b| a * (b - below).tap { below = b } }
  end
end

# A population. Those that few beat come first.
class Island
  def initialize(number)
    @random = Random.new(OPTIONS[:seed] * 1000 + number)
    @choices = select(Array.new(OPTIONS[:population]) { Choice.of(@random.rand(1 << THINGS.size)) })
  end

  def live(generations) = generations.times { @choices = select(@choices + Array.new(OPTIONS[:population]) { child }) }

  def front = Choice.front(@choices)

  # Some of what was found anywhere comes here.
  def welcome(front) = @choices = select(@choices + front.sample(OPTIONS[:population] / 10, random: @random))

  private

  # Genes of two parents, and a change.
  def child
    mask = @random.rand(1 << THINGS.size)
    Choice.of((parent.genes & mask | parent.genes & ~mask) ^ 1 << @random.rand(THINGS.size))
  end

  def parent = @choices[Array.new(2) { @random.rand(@choices.size) }.min]

  def select(choices)
    choices = choices.uniq(&:worths)
    sorted = choices.each_with_index.sort_by { |choice, n| [choices.count { |other| other.beats?(choice) }, n] }
    sorted.first(OPTIONS[:population]).map(&:first)
  end
end

# All islands' lives. The block is given the fronts of some of them, and gives the front of all: what stands between the islands.
def evolve(numbers)
  islands = numbers.map { |number| Island.new(number) }
  front = []
  OPTIONS[:epochs].times do
    islands.each { |island| island.live(OPTIONS[:generations]) }
    front = Choice.front(yield(islands.map(&:front)).flatten)
    islands.each { |island| island.welcome(front) }
  end
  front
end

numbers = (0...OPTIONS[:islands]).to_a
show = ->(front) { "#{front.size} choices, and an area of #{Choice.area(front)}; #{Program.digest(front)}" }
title = "#{numbers.size} islands, #{OPTIONS[:epochs] * OPTIONS[:generations]} generations"
Program.run(title, sequential: OPTIONS[:check] == 1 && -> { evolve(numbers) { |fronts| fronts } }, show:) do
  evolve(Kumihimo::Cluster.scatter(numbers)) { |fronts| Kumihimo::Cluster.reduce(fronts) { |a, b| a + b } }
end
