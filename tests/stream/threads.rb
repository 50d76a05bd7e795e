# Several threads read one list, each at its own pace; fibers, too.
require "kumihimo/xml"
require "socket"

class Row < Kumihimo::XTree
  field :k, Integer
  field :v
end
class Table < Kumihimo::XTree
  field :head
  list :rows, Row, element: "r"
  field :foot, optional: true
end

N = 400
TEXT = "<t><head>h</head>" + (1..N).map { |i| "<r><k>#{i}</k><v>text #{i}</v></r>" }.join + "<foot>f</foot></t>"

def piped
  r, w = IO.pipe
  Thread.new do
    TEXT.scan(/.{1,300}/m) { |piece| w << piece; Thread.pass }
    w.close
  end
  r
end
want = (1..N).sum

table = Kumihimo::XML.open(piped, Table)
p 4.times.map { Thread.new { table.rows.sum(&:k) } }.map(&:value) == [want] * 4
p table.head, table.foot

table = Kumihimo::XML.open(piped, Table)
list = table.remove_rows
readers = 3.times.map { list.reader }
sums = readers.map do |reader|
  Thread.new do
    sum = 0
    loop { sum += reader.next.k }
    sum
  end
end
p sums.map(&:value) == [want] * 3

# One reader, several threads: each element once.
table = Kumihimo::XML.open(piped, Table)
seen = Queue.new
each = table.rows.reader
lock = Mutex.new
4.times.map do
  Thread.new do
    while (row = lock.synchronize { each.next rescue nil })
      seen << row.k
    end
  end
end.each(&:join)
p seen.size.times.map { seen.pop }.sort == (1..N).to_a

# Trees can be shared by Ractors; lists, which are read, cannot, and go on being read.
table = Kumihimo::XML.open(TEXT, Table)
[table.rows, table.rows.reader].each do |list|
  Ractor.make_shareable(list)
rescue Ractor::Error => e
  puts e.message, list.frozen?
end
p Ractor.shareable?(Ractor.make_shareable(table.rows.first)), table.rows.sum(&:k) == want

# Elements cross threads, fields are read there.
rows = Queue.new
t = Thread.new { Kumihimo::XML.each(piped, "/t/r", Row) { |r| rows << r }; rows << nil }
texts = []
while (r = rows.pop)
  texts << r.v
end
t.join
p texts == (1..N).map { |i| "text #{i}" }
row = Kumihimo::XML.list(TEXT, "/t/r", Row).first
p 4.times.map { Thread.new { [row.k, row.v] } }.map(&:value).uniq

# Fibers of one thread take turns.
table = Kumihimo::XML.open(piped, Table)
fibers = 3.times.map do |i|
  Fiber.new do
    sum = 0
    table.rows.each do |r|
      sum += r.k
      Fiber.yield if r.k % (i + 2) == 0
    end
    sum
  end
end
results = []
until fibers.empty?
  fibers.reject! do |f|
    v = f.resume
    results << v unless f.alive?
    !f.alive?
  end
end
p results == [want] * 3

# Waiting for several.
a, b = Kumihimo::XML.list(piped, "/t/r", Row), Kumihimo::XML.list(piped, "/t/r", Row)
readers = [a.flow_reader, b.flow_reader]
sum = 0
until readers.empty?
  readers.reject! do |reader|
    batch = reader.take_batch(50)
    sum += batch.sum(&:k) if batch
    batch.nil?
  end
  Kumihimo::Flow.wait(readers) unless readers.empty?
end
p sum == 2 * want

p Kumihimo::XML.list(piped, "/t/r", Row).join(Kumihimo::XML.list(piped, "/t/r", Row), on: :k) { |x, y| x.k + y.k }.sum == 2 * want rescue p $!
row = Kumihimo::XML.each(TEXT, "/t/r", Row).first
p Ractor.shareable?(row) || Ractor.make_shareable(row).equal?(row)
