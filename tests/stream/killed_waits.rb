# Threads and fibers that are killed while they wait for a document leave nothing with it: whatever is killed for ever, the
# next one who looks finds at most those of the last round.
require "kumihimo/xml"

class Row < Kumihimo::XTree
  field :k, Integer
end
class Table < Kumihimo::XTree
  field :head
  list :rows, Row, element: "r"
end

ROUNDS = ENV["KUMI_GC_STRESS"] ? 20 : 200
AT_ONCE = 15

def waiting(part) = Kumihimo::XML.stat(part)[:waiting]

# Kills those that wait, each for so many things, again and again. Prints whether there were never more than three rounds of them.
def check(what, part, things = 1)
  most = 0
  ROUNDS.times do
    threads = Array.new(AT_ONCE) { Thread.new { yield } }
    threads.each { |thread| Thread.pass until thread.stop? }
    most = [most, waiting(part)].max
    threads.each(&:kill).each(&:join)
  end
  puts "#{what}: #{most.between?(1, AT_ONCE * things * 3) ? 'bounded' : "as many as #{most}"}"
end

source, feed = IO.pipe
table = Kumihimo::XML.open(source, Table)
check("a field of a tree", table) { table.head }
feed << "<t><head>h</head><r><k>1</k></r>"
p table.head

reader = table.rows.reader
p reader.next.k
check("a reader of a list", reader) { reader.next }
check("readers of their own", table) { table.rows.drop(1).first }
check("several at once", table, 2) { Kumihimo.flow(table.rows).union(table.rows, all: true).drop(2).first }

# Those that were not killed get what comes.
threads = Array.new(3) { Thread.new { table.rows.map(&:k).to_a } }
threads.each { |thread| Thread.pass until thread.stop? }
others = Array.new(3) { Thread.new { reader.next.k } }
others.each { |thread| Thread.pass until thread.stop? }
others.pop(2).each(&:kill).each(&:join)
feed << "<r><k>2</k></r></t>"
feed.close
p threads.map(&:value), others[0].value
p waiting(table)
