# RNA: how a strand folds. Bases pair, A with U, C with G and G with U, and pairs in a row, a stem, hold the strand together. Looked for
# are all foldings that hold well: not much less than the one that is found by always taking the strongest stem that fits.
#
# A folding is a set of stems that don't exclude each other. The search adds stem after stem. A branch of it to which many may be added is a
# call of a node, another one each time, and gives a future. That call makes further ones. So a node has many of them at a time, each with
# a thread of its own.
#
# Communication: infrequent and asynchronous. A call is some milliseconds of work. A thread waits only for the calls that it has made, and
# its node has others to go on with.
#
# The answer is the same on any number of nodes: futures are asked for in the order of the stems. What is worth looking at is decided
# before the search, by what a quick one has found, and not on the way.
#
#   kumi run --nodes 4 examples/rna.rb [--bases N] [--slack N] [--grain N] [--seed N]
require_relative "support/program"

ABOUT = "Foldings of a strand of RNA: a search whose branches are futures on all nodes."
OPTIONS = Program.options(ABOUT, bases: [110, "bases of the strand"], slack: [8, "how much weaker a folding may be than a quick one", 0],
                                 grain: [30, "stems that may be added to a branch: from so many on it is a call"],
                                 seed: [1, "another strand", 0])

STRAND = Random.new(OPTIONS[:seed]).then { |random| Array.new(OPTIONS[:bases]) { "ACGU"[random.rand(4)] } }
PAIRS = { %w[C G] => 3, %w[G C] => 3, %w[A U] => 2, %w[U A] => 2, %w[G U] => 1, %w[U G] => 1 }
SHORTEST = 3     # pairs of a stem
LOOP = 3         # bases between the two sides of a stem

# Bases first, first + 1, .. pair with last, last - 1, ..
Stem = Data.define(:number, :first, :last, :pairs, :strength) do
  # All of the strand, each as long as it can be, the strongest first.
  def self.all
    found = []
    STRAND.each_index do |first|
      STRAND.each_index do |last|
        next if first > 0 && last + 1 < STRAND.size && PAIRS[[STRAND[first - 1], STRAND[last + 1]]]
        strengths = []
        while last - first - 2 * strengths.size > LOOP && (pair = PAIRS[[STRAND[first + strengths.size], STRAND[last - strengths.size]]])
          strengths << pair
        end
        found << [first, last, strengths.size, strengths.sum - 4] if strengths.size >= SHORTEST && strengths.sum > 4
      end
    end
    found.sort_by { |first, last, _, strength| [-strength, first, last] }.each_with_index.map { |stem, number| new(number, *stem) }
  end

  # Stems don't share bases, and don't cross: one is within the other's loop, or beside it.
  def fits?(other)
    a, b = first < other.first ? [self, other] : [other, self]
    b.first > a.last || b.first >= a.first + a.pairs && b.last <= a.last - a.pairs
  end
end

STEMS = Stem.all

# What a search has found: how many foldings, and the best one: its strength and its stems.
Found = Struct.new(:count, :strength, :stems) do
  # The first of equally good ones counts.
  def +(other) = Found.new(count + other.count, *(other.strength > strength ? other : self).to_a.drop(1))
end

# A branch of the search: a folding, and the stems that may be added to it.
class Branch
  attr_reader :stems

  def initialize(stems, strength, free)
    @stems, @strength, @free = stems, strength, free
  end

  def self.root = new([], 0, STEMS)

  # The folding of these stems.
  def self.of(numbers) = numbers.reduce(root) { |branch, number| branch.with(STEMS[number]) }

  # Those that come after this one, and fit.
  def with(stem)
    Branch.new([*@stems, stem.number], @strength + stem.strength, @free.select { |s| s.number > stem.number && s.fits?(stem) })
  end

  # Could something that is strong enough come of it?
  def worth?(least) = @strength + @free.sum(&:strength) >= least

  # The branches below that are worth it.
  def inside(least) = @free.map { |stem| with(stem) }.select { |branch| branch.worth?(least) }

  # The folding itself, if it is strong enough.
  def found(least) = @strength >= least ? Found.new(1, @strength, @stems) : Found.new(0, 0, [])

  # Everything from here on.
  def search(least) = inside(least).reduce(found(least)) { |sum, branch| sum + branch.search(least) }

  # Adds the strongest stem that fits until none does.
  def quick = @free.empty? ? @strength : with(@free[0]).quick

  # Is it large enough for a call?
  def large? = @free.size >= OPTIONS[:grain]
end

# Searches branches that any node gives it.
class Searcher
  include Kumihimo::Remote
  remote_methods :search

  def initialize
    @lock = Mutex.new
    @next = 0
    Kumihimo::Remote.register("searcher", self)
    @all = Kumihimo::Cluster.nodes.map { |node| Kumihimo::Remote.find("searcher", on: node) }
    Kumihimo::Cluster.barrier # all know all
  end

  # What is found from this folding on.
  def search(stems, least)
    branch = Branch.of(stems)
    parts = branch.inside(least).map { |inside| inside.large? ? start(inside.stems, least) : inside.search(least) }
    parts.reduce(branch.found(least)) { |sum, part| sum + (Found === part ? part : Found.new(*part.value)) }.to_a
  end

  private

  # A future of the next searcher: a call of another node, or a thread of this one.
  def start(stems, least)
    searcher = @lock.synchronize { @all[(@next += 1) % @all.size] }
    Kumihimo::Remote.reference?(searcher) ? searcher.async.search(stems, least) : Thread.new { search(stems, least) }
  end
end

least = Branch.root.quick - OPTIONS[:slack]
show = lambda do |(count, strength, stems)|
  signs = "." * STRAND.size
  STEMS.values_at(*stems).each { |stem| stem.pairs.times { |n| signs[stem.first + n], signs[stem.last - n] = "(", ")" } }
  "#{count} foldings of #{least} and more, the best of #{strength}\n#{STRAND.join}\n#{signs}\n"
end
title = "#{STRAND.size} bases, #{STEMS.size} stems"
Program.run(title, sequential: OPTIONS[:check] == 1 && -> { Branch.root.search(least).to_a }, show:) do
  searcher = Searcher.new
  Kumihimo::Cluster.broadcast(Program.first? ? searcher.search([], least) : nil)
end
