# Readers that operators read by: what they hand out before an error, and that they never wait.
require_relative "../support/table"

class Numbers < Kumihimo::XTree
  list :numbers, Integer, element: "n"
end

# A text that is no value: those before it come first, the error is next, and those behind it come then.
TEXTS = "<t>#{%w[1 2 dear 4 5].map { |text| "<n>#{text}</n>" }.join}</t>"
def numbers = Kumihimo::XML.parse(TEXTS, Numbers).numbers

reader = numbers.flow_reader
p 4.times.map { told { reader.take_batch(10) } }
reader = numbers.flow_reader
p 6.times.map { told { reader.take_batch(1) } }
reader = numbers.flow_reader
p told { reader.take_batch(10) }, told { reader.peek }, reader.next, reader.take_batch(10), (reader.next rescue $!.class)
reader = numbers.reader
p 5.times.map { told { reader.next } }
seen = []
p told { numbers.join([1, 2, 4, 5], on: :itself).each { |pair| seen << pair } }, seen
seen = []
p told { numbers.union([], all: true).each { |n| seen << n } }, seen
reader = numbers.flow_reader
reader.take_batch(10)
reader.close
p reader.take_batch(10), reader.closed?

# A converter of the program's that throws keeps none of what was converted before.
thrown = Class.new(Kumihimo::XTree) { list(:numbers, element: "n") { |text| text == "dear" ? throw(:out, :thrown) : text } }
reader = Kumihimo::XML.parse(TEXTS, thrown).numbers.flow_reader
p catch(:out) { reader.take_batch(10) }, reader.take_batch(10), reader.take_batch(10)

# An object with readpartial may wait: what is beside it goes on.
class Fed
  attr_reader :asked

  def initialize(*pieces)
    @pieces = Queue.new
    pieces.each { |piece| @pieces << piece }
    @asked = 0
  end

  def <<(piece) = @pieces << piece
  def waited_for? = @pieces.num_waiting.positive?

  def readpartial(_most)
    @asked += 1
    piece = @pieces.pop
    piece.respond_to?(:call) ? piece.call : piece || raise(EOFError)
  end
end

def rows(*keys) = keys.map { |k| "<r><k>#{k}</k></r>" }.join
THREADS = Thread.list.size

def quiet(what)
  puts "#{what}: #{Thread.list.size - THREADS} threads are left" unless Thread.list.size == THREADS
end

# The fed side stands still until all of the other has been read.
fed = Fed.new("<t>", rows(1))
passed = Enumerator.new do |out|
  (1..500).each { |k| out << k }
  fed << rows(500) << "</t>" << nil
end
p Kumihimo::XML.open(fed, Table).rows.map(&:k).join(passed, on: :itself).sort.to_a
quiet "join"

# No more is asked for than is wanted.
fed = Fed.new("<t>", rows(1, 2), rows(3), "</t>", nil)
p Kumihimo::XML.open(fed, Table).rows.map(&:k).union([], all: true).first(2), fed.asked
quiet "first"

# Left while it waits: nothing of the document is lost to those who read on.
fed = Fed.new("<t>", rows(1))
table = Kumihimo::XML.open(fed, Table)
beside = Enumerator.new do |out|
  Thread.pass until fed.waited_for?
  out << :seen
end
p table.rows.map(&:k).union(beside, all: true).find { |found| found == :seen }
quiet "left"
fed << rows(2, 3) << "</t>" << nil
p table.rows.map(&:k).to_a

# What it raises or throws is the reader's; whoever reads on asks again.
fed = Fed.new("<t>", rows(1), -> { raise IOError, "the line is dead" }, -> { throw :out, :thrown }, -> { 5 }, rows(2), "</t>", nil)
table = Kumihimo::XML.open(fed, Table)
seen = []
all = -> { table.rows.map(&:k).union([], all: true) }
p told { all.().each { |k| seen << k } }, seen
p catch(:out) { all.().to_a }, told { all.().to_a }, all.().to_a
quiet "failed"

# Two of them, and two lists of one.
one, two = [Fed.new("<t>", rows(*1..40), "</t>", nil), Fed.new("<t>", rows(*20..60), "</t>", nil)]
p Kumihimo::XML.open(one, Table).rows.join(Kumihimo::XML.open(two, Table).rows, on: :k).map { |row, _| row.k }.sort.to_a == [*20..40]
table = Kumihimo::XML.open(Fed.new("<t>", *(1..40).map { |k| rows(k) }, "</t>", nil), Table)
p table.rows.join(table.rows, on: :k, rows: 10).count
quiet "two"

# A list that was cut is asked by many whether it is empty: one of them reads it, no other takes away what it reads by.
shares = 30.times.map do
  cut = Kumihimo::XML.parse("<t>#{rows(*1..20)}</t>", Table).remove_rows
  asked = 3.times.map { Thread.new { cut.empty? } }.map(&:value)
  [asked.any?, cut.map(&:k).to_a == [*1..20]]
end
p shares.uniq
