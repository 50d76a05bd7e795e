# Squares of a matrix whose rows are spread over the nodes, with answers asked for before they are needed.
#
# For its rows of the square a node needs all rows of the matrix. It goes round the nodes for them, a block of rows at a time, and while it
# works on one the next ones are on their way.
#
# Communication: frequent and asynchronous. A node waits only where a block takes longer than the work on those before it; and all wait for
# each other after each square. While all nodes answer at once nobody waits for blocks. A collection takes longer than the work on a
# block, and then all wait that want the next one from that node. Who judges by how often nodes are idle, as the paper's schedule does,
# sees nothing to fear, lets all collect by themselves, and is wrong (docs/PROGRAMS.md).
#
# The answer is the same on any number of nodes: the numbers are integers.
#
#   kumi run --nodes 4 examples/prefetch.rb [--size N] [--block N] [--ahead N] [--squares N] [--seed N]
require_relative "support/program"

ABOUT = "Squares of a matrix over all nodes, whose blocks are asked for before they are needed."
OPTIONS = Program.options(ABOUT, size: [128, "rows and columns"], block: [1, "rows that are asked for at a time"],
                                 ahead: [4, "blocks that are asked for before they are needed; 0: none", 0],
                                 squares: [4, "squares, each of the one before"], seed: [1, "another matrix", 0])
PRIME = 2**31 - 1 # all numbers are taken modulo this one

def matrix = Random.new(OPTIONS[:seed]).then { |random| Array.new(OPTIONS[:size]) { Array.new(OPTIONS[:size]) { random.rand(PRIME) } } }

# What these rows of the second matrix add to a row of the product: each of them times its number in the first matrix's row.
def add(sums, numbers, rows)
  numbers.zip(rows).reduce(sums) { |row, (number, other)| row.zip(other).map { |sum, factor| (sum + number * factor) % PRIME } }
end

# A node's rows.
class Rows
  include Kumihimo::Remote
  remote_methods :block
  C = Kumihimo::Cluster
  # A block that is on this node.
  Here = Struct.new(:value) do
    def done? = true
  end
  private_constant :Here
  # How many blocks had not come when they were needed.
  attr_reader :late

  def initialize(rows)
    @rows = rows
    @late = 0
    Kumihimo::Remote.register("rows", self)
    nodes = C.nodes
    first = 0
    # Where all blocks are: the node's rows, the place there, and the place in the whole matrix.
    counts = C.reduce([rows.size]) { |a, b| a + b }
    @blocks = nodes.zip(counts).map do |node, count|
      there = Kumihimo::Remote.find("rows", on: node)
      first += count
      (0...count).step(OPTIONS[:block]).map { |at| [there, at, first - count + at] }
    end
    # Each node begins with its own, so that they don't all ask the same one.
    @blocks = @blocks.rotate(nodes.index(C.self)).flatten(1)
  end

  # So many rows, for others.
  def block(at) = @rows[at, OPTIONS[:block]]

  def square
    squared = @rows.map { |row| [0] * row.size }
    coming = []
    @blocks.each_with_index do |(_, _, place), n|
      coming << ask(*@blocks[coming.size]) while coming.size <= [n + OPTIONS[:ahead], @blocks.size - 1].min
      @late += 1 unless coming[n].done?
      rows = coming[n].value
      coming[n] = nil
      squared = squared.zip(@rows).map { |sums, row| add(sums, row[place, rows.size], rows) }
    end
    C.barrier # all have what they need of the old rows
    @rows = squared
    C.barrier # all have new ones
  end

  # All rows of all nodes.
  def all = C.reduce(@rows) { |a, b| a + b }

  private

  # A block, sooner or later.
  def ask(there, at, _) = Kumihimo::Remote.reference?(there) ? there.async.block(at) : Here.new(block(at))
end

# The sequential program.
def alone
  (1..OPTIONS[:squares]).reduce(matrix) { |rows, _| rows.map { |row| add([0] * row.size, row, rows) } }
end

late = 0
Program.run("#{OPTIONS[:squares]} squares of a matrix of #{OPTIONS[:size]} rows", sequential: OPTIONS[:check] == 1 && -> { alone }) do
  rows = Rows.new(Kumihimo::Cluster.scatter(Program.first? ? matrix : nil))
  OPTIONS[:squares].times { rows.square }
  late = rows.late
  rows.all
end
late = Kumihimo::Cluster.reduce(late) { |a, b| a + b }
puts "#{late} blocks had not come when they were needed" if Program.first?
