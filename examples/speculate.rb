# When the lights along a road should turn green, so that cars from both ends lose little time; with idle time used for what may be needed.
#
# In each round all lights are tried a little earlier and a little later, each node tries its share, and the best change is made. Where none
# is good, the changes get smaller, and in the end a search begins from other times. While a node waits for the others it has a thread of
# lower priority try what comes next if it guesses right: that its own best change is the best one, or, where it has none, that nobody has.
#
# Communication: frequent and synchronous. All wait for all in each round, some milliseconds. But the nodes are never idle: they guess
# instead. Who judges by how often and how long nodes are idle, as the paper's schedule does, sees nothing to fear, lets all collect by
# themselves, and is wrong: where others wait for a node that collects, they only guess more (docs/PROGRAMS.md).
#
# The answer is the same on any number of nodes, whoever guesses what: what is tried always gives the same, and of equally good changes the
# first one counts.
#
#   kumi run --nodes 4 examples/speculate.rb [--lights N] [--cars N] [--starts N] [--guess N] [--seed N]
require_relative "support/program"

ABOUT = "A search for the best times of traffic lights, whose nodes guess what comes next while they wait."
OPTIONS = Program.options(ABOUT, lights: [16, "lights along the road"], cars: [20, "cars from each end"],
                                 starts: [10, "searches, each from other times"],
                                 guess: [1, "use idle time: 1, or 0 for no", 0], seed: [1, "another road", 0])

PERIOD = 64      # seconds from green to green; half of it is red
GAP = 2          # seconds between cars
RANDOM = Random.new(OPTIONS[:seed])
ROAD = Array.new(OPTIONS[:lights] + 1) { RANDOM.rand(10..70) } # seconds from light to light
STARTS = Array.new(OPTIONS[:starts]) { Array.new(OPTIONS[:lights]) { RANDOM.rand(PERIOD) } }

# How long all cars take when the lights turn green at these times.
def cost(greens) = trips(greens, ROAD) + trips(greens.reverse, ROAD.reverse)

def trips(greens, road)
  # When the last car came past each of the lights.
  before = [-GAP] * greens.size
  (0...OPTIONS[:cars]).sum do |car|
    start = time = car * GAP
    before = before.each_with_index.map { |last, n| time = past(greens[n], [time + road[n], last + GAP].max) }
    time + road.last - start
  end
end

# When a car gets past a light that it has reached.
def past(green, time)
  since = (time - green) % PERIOD
  since < PERIOD / 2 ? time : time + PERIOD - since
end

# One state of the search: the times of the lights, and how large changes are.
State = Struct.new(:greens, :step) do
  # What is tried, in order: each light earlier, and later.
  def changes
    greens.each_index.flat_map { |n| [-step, step].map { |by| greens.dup.tap { |all| all[n] = (all[n] + by) % PERIOD } } }
  end

  # The state after the best change: [its cost, its number, what it gives].
  def after(best, cost) = best && best[0] < cost ? State.new(best[2], step) : State.new(greens, step / 2)

  def over? = step.zero?
end

# The best of these changes, given with their numbers.
def best(changes) = changes.map { |number, greens| [yield(greens), number, greens] }.min

# The best of all searches: the cost, and the times. The block is given a state and its cost, and gives the best change.
def search
  STARTS.map do |greens|
    state = State.new(greens, PERIOD / 4)
    least = cost(greens)
    until state.over?
      found = yield state, least
      state = state.after(found, least)
      least = [least, found[0]].min
    end
    [least, state.greens]
  end.min
end

# Tries things, and remembers what it has tried: work to be done, or guesses while there is none.
class Tries
  attr_reader :guessed, :right

  def initialize
    @lock = Mutex.new
    @guess = ConditionVariable.new
    @known = {}
    @guesses = []
    @guessed = @right = 0
    Thread.new { guess }.priority = -1 if OPTIONS[:guess] == 1
  end

  def cost_of(greens)
    known = @lock.synchronize { @known[greens] }
    @right += 1 if known
    known || cost(greens)
  end

  # While the block waits, guesses are tried.
  def meanwhile(guesses)
    @lock.synchronize do
      @known = {}
      @guesses = guesses
      @guess.signal
    end
    yield
  ensure
    @lock.synchronize { @guesses = [] }
  end

  private

  def guess
    loop do
      greens = @lock.synchronize do
        @guess.wait(@lock) while @guesses.empty?
        @guesses.shift
      end
      found = cost(greens)
      @lock.synchronize { @known[greens] = found }
      @guessed += 1
    end
  end
end

C = Kumihimo::Cluster
tries = Tries.new
# A node's share of changes, with their numbers.
share = ->(state) { state.changes.each_with_index.filter_map { |greens, n| [n, greens] if n % C.nodes.size == C.nodes.index(C.self) } }

show = ->((cost, greens)) { "#{cost} seconds for all cars, with green at #{greens.join(", ")}" }
Program.run("#{OPTIONS[:lights]} lights, #{OPTIONS[:cars]} cars from each end", sequential: OPTIONS[:check] == 1 && lambda {
  search { |state, _| best(state.changes.each_with_index.map { |greens, n| [n, greens] }) { |greens| cost(greens) } }
}, show:) do
  search do |state, least|
    mine = best(share[state]) { |greens| tries.cost_of(greens) }
    next_one = state.after(mine, least)
    tries.meanwhile(next_one.over? ? [] : share[next_one].map(&:last)) { C.reduce([mine].compact) { |a, b| a + b }.min }
  end
end
guessed, right = C.reduce([tries.guessed, tries.right]) { |a, b| a.zip(b).map(&:sum) }
puts "#{guessed} were tried by guess, #{right} of these were needed" if Program.first?
