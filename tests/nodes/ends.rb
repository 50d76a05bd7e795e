# nodes: 2
# A key that is read to its end from two nodes, by readers some of which are killed.
S = Kumihimo::Segments
other = S[S.node == "node1" ? "node2" : "node1"]
if S.node == "node2"
  rows = S.local.key("rows")
  # Those of the other node have some, too.
  S.local.take("begin", timeout: 40)
  readers = 3.times.map { Thread.new { rows.map { |row| row } } }
  killed = Thread.new { 100.times { Thread.new { rows.each { Thread.pass } }.tap { Thread.pass }.kill.join } }
  other.put("read", readers.map(&:value).flatten)
  killed.join
  # The end is there still.
  S.local.take("go on", timeout: 40)
  other.put("again", rows.to_a)
  S.local.take("done", timeout: 40)
  exit
end
rows = other.key("rows")
got = Queue.new
readers = 2.times.map { Thread.new { rows.each { |row| got << row } } }
one = -> { Thread.handle_interrupt(Object => :on_blocking) { rows.each { |row| got << row } } }
killed = Thread.new { 50.times { Thread.new(&one).tap { Thread.pass }.kill.join } }
rows.from(1..20)
Thread.pass while got.empty?
other.put("begin", 1)
rows.from(21..600)
rows.close
readers.each(&:join)
killed.join
read = S.local.take("read", timeout: 40)
mine = Array.new(got.size) { got.pop }
# What a reader of the other node had in its hands when it was killed, is gone with it.
p mine.tally.values.max, (mine & read), (mine + read - (1..600).to_a)
p rows.to_a, rows.size, rows.stat[:leased]
other.put("go on", 1)
p S.local.take("again", timeout: 40)
# And of a key of this one, closed from there.
there = other.key("there")
there.put({ a: 1 }, move: true)
there.close
p there.to_a, there.to_a, there.take.class.name, there.size
other.put("done", 1)
