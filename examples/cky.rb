# Cocke, Kasami and Younger: how a sentence can be derived by a context-free grammar, and the best of these ways.
#
# The table has a cell for each part of the sentence, words i to j. What its words can be follows from the cells of all pairs of shorter
# parts that make them up. A cell stands on one node. Each node has a thread for each of its cells, all from the start: a thread asks for
# the cells that it needs, in turn, and waits until they are filled.
#
# Communication: frequent and synchronous. Each cell is asked for by every other node, once, and threads wait meanwhile. How many threads
# of a node can go on depends on the sentence and the number of nodes: the last cells have to wait for all others. The trees' branches are
# on all nodes.
#
# The answer is the same on any number of nodes: each cell tries its pairs in order, and the first of equally good ones counts.
#
#   kumi run --nodes 4 examples/cky.rb [--words N] [--sentences N] [--symbols N] [--seed N]
require_relative "support/program"

ABOUT = "Parses sentences by a context-free grammar: the table's cells are on all nodes, with a thread for each."
OPTIONS = Program.options(ABOUT, words: [60, "words in a sentence"], sentences: [3, "sentences, one after the other"],
                                 symbols: [10, "symbols of the grammar"], seed: [1, "another grammar and other sentences", 0])

# A grammar by chance: a quarter of all pairs of symbols can be derived from another one, and each word from two. A rule has a penalty:
# the best tree is that with the least sum of them.
RANDOM = Random.new(OPTIONS[:seed])
SYMBOLS = (0...OPTIONS[:symbols]).to_a
RULES = SYMBOLS.map { SYMBOLS.map { RANDOM.rand(4).zero? ? [RANDOM.rand(SYMBOLS.size), RANDOM.rand(1..9)] : nil } }
WORDS = ("a".."z").to_h { |word| [word, SYMBOLS.sample(2, random: RANDOM).map { |symbol| [symbol, RANDOM.rand(1..9)] }] }
SENTENCES = Array.new(OPTIONS[:sentences]) { Array.new(OPTIONS[:words]) { WORDS.keys.sample(random: RANDOM) } }

# What a part of the sentence can be: a symbol, and all ways to it, each with its penalty, the number of ways that its parts have together,
# and the two parts, or the word. So the constituents are a forest of all trees.
class Constituent
  include Kumihimo::Remote
  remote_methods :tree

  def initialize(symbol, ways)
    @symbol = symbol
    @ways = ways
  end

  # The best tree as text. Branches on other nodes are asked for theirs.
  def tree
    _, _, left, right = best
    right ? "(#{@symbol} #{left.tree} #{right.tree})" : left
  end

  # What others need to know: the symbol, in how many ways, the least penalty, and the constituent itself, which goes as a reference.
  def summary = [@symbol, @ways.sum { |_, count,| count }, best[0], self]

  # Those of one word.
  def self.of_word(word) = WORDS[word].map { |symbol, penalty| new(symbol, [[penalty, 1, word]]) }

  # Those of two parts, for each place where the words can be parted: the block gives the summaries of what both parts can be.
  def self.of_parts(places)
    found = Array.new(SYMBOLS.size) { [] }
    places.each do |place|
      lefts, rights = yield place
      lefts.each do |left, left_count, left_penalty, l|
        rights.each do |right, right_count, right_penalty, r|
          symbol, penalty = RULES[left][right]
          found[symbol] << [penalty + left_penalty + right_penalty, left_count * right_count, l, r] if symbol
        end
      end
    end
    found.each_with_index.filter_map { |ways, symbol| new(symbol, ways) unless ways.empty? }
  end

  private

  # The first of equally good ones.
  def best = @ways.min_by { |penalty,| penalty }
end

# A cell: summaries of what its words can be, once they are known.
class Cell
  def initialize
    @lock = Mutex.new
    @filled = ConditionVariable.new
  end

  def fill(constituents)
    @lock.synchronize do
      @summaries = constituents.map(&:summary)
      @filled.broadcast
    end
  end

  def summaries
    @lock.synchronize do
      @filled.wait(@lock) until @summaries
      @summaries
    end
  end
end

# A cell of another node. Who is first asks for it; others here wait for that.
class FarCell
  def initialize(table, i, j)
    @table, @i, @j = table, i, j
    @lock = Mutex.new
  end

  def summaries = @lock.synchronize { @summaries ||= @table.summaries(@i, @j) }
end

# A node's cells, and what it has of others'.
class Table
  include Kumihimo::Remote
  remote_methods :summaries

  def initialize(words, number)
    @words = words
    @name = "table #{number}"
    nodes = Kumihimo::Cluster.nodes
    @self, @size = nodes.index(Kumihimo::Cluster.self), nodes.size
    own, others = parts.partition { |i, j| owner(i, j) == @self }
    @own = own.to_h { |part| [part, Cell.new] }
    Kumihimo::Remote.register(@name, self)
    tables = nodes.map { |node| Kumihimo::Remote.find(@name, on: node) }
    @others = others.to_h { |i, j| [[i, j], FarCell.new(tables[owner(i, j)], i, j)] }
  end

  # What words i to j - 1 can be; waits until it is known.
  def summaries(i, j) = (@own[[i, j]] || @others[[i, j]]).summaries

  # Fills all cells. What the whole sentence can be.
  def parse
    @own.map { |(i, j), cell| Thread.new { cell.fill(constituents(i, j)) } }.each(&:join)
    summaries(0, @words.size)
  end

  # All nodes are done with the sentence. Tables refer to each other, and cycles over nodes are not collected.
  def forget
    Kumihimo::Remote.register(@name, nil)
    @others.clear
  end

  private

  def constituents(i, j)
    j == i + 1 ? Constituent.of_word(@words[i]) : Constituent.of_parts(i + 1...j) { |k| [summaries(i, k), summaries(k, j)] }
  end

  # Short ones first.
  def parts = (1..@words.size).flat_map { |length| (0..@words.size - length).map { |i| [i, i + length] } }

  # Which node has a cell.
  def owner(i, j) = (i + j) % @size
end

# What is told of a sentence: in how many ways it can be derived from the first symbol, the least penalty, and that tree.
def answer(summaries)
  _, count, penalty, whole = summaries.find { |symbol,| symbol == 0 }
  whole ? [count, penalty, whole.tree] : [0]
end

# The sequential program.
def alone
  SENTENCES.map do |words|
    table = {}
    (1..words.size).each do |length|
      (0..words.size - length).each do |i|
        j = i + length
        found = length == 1 ? Constituent.of_word(words[i]) : Constituent.of_parts(i + 1...j) { |k| [table[[i, k]], table[[k, j]]] }
        table[[i, j]] = found.map(&:summary)
      end
    end
    answer(table[[0, words.size]])
  end
end

title = "#{SENTENCES.size} sentences of #{OPTIONS[:words]} words"
Program.run(title, sequential: OPTIONS[:check] == 1 && -> { alone }) do
  SENTENCES.each_with_index.map do |words, number|
    table = Table.new(words, number)
    found = table.parse
    Kumihimo::Cluster.broadcast(Program.first? ? answer(found) : nil).tap { table.forget }
  end
end
