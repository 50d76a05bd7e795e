# nodes: 3
# Meetings that go wrong on one node, and what the others have of it: none waits for who does not come any more.
C = Kumihimo::Cluster
S = Kumihimo::Segments
ME = C.self

def heard
  value = yield
  value.is_a?(Proc) ? :a_proc : value
rescue StandardError, NotImplementedError => error
  plain = [ArgumentError, Timeout::Error, Kumihimo::Remote::TimeoutError].include?(error.class)
  plain ? error.class.name : "#{error.class}: #{error.message[/\A[^,]*/]}"
end

# What each has, on the first node. It asks by segments, which know nothing of meetings.
def told(what, sum = :itself.to_proc)
  mine = heard { yield }
  S["node1"].put("#{what} #{ME}", mine)
  return S.local.take("#{what} heard") unless ME == "node1"
  puts "#{what}: #{sum[C.nodes.map { |n| S.local.take("#{what} #{n}", timeout: 60) }].inspect}"
  (C.nodes - [ME]).each { |n| S[n].put("#{what} heard", 1) }
end

def signal(what) = C.nodes.each { |n| S[n].put(what, 1) }
def await(what) = S.local.take(what)

# The first meeting of all: there is nothing yet that could be called on the first node.
if ME == "node3"
  mine = [heard { C.barrier(timeout: 0) }, heard { C.barrier(timeout: 0.05) }, heard { Timeout.timeout(0.05) { C.barrier } }]
  S["node1"].put("late", mine)
  signal("node3 has left")
else
  await("node3 has left")
  mine = Array.new(3) { heard { C.barrier(timeout: 60) } }
  S["node1"].put("in time", mine)
end
puts "too late: #{S.local.take("late")}", "in time: #{[S.local.take("in time"), S.local.take("in time")].inspect}" if ME == "node1"
told("and the next one") { C.reduce(1) { |a, b| a + b } }
told("a thread is killed") do
  if ME == "node2"
    t = Thread.new { C.reduce(1) { |a, b| a + b } }
    # Before it waits it has not come.
    Thread.pass until t.stop?
    t.kill.join
    signal("node2 has left")
    3
  else
    await("node2 has left")
    C.reduce(1) { |a, b| a + b }
  end
end

told("what can't travel, of the last one") { C.reduce(ME == "node3" ? proc {} : 1) { |a, b| [a, b] } }
told("what can't travel, given") { C.broadcast(ME == "node2" ? proc {} : 1, from: "node2") }
told("nobody does the same") { ME == "node2" ? C.barrier : C.reduce(1) { |a, b| a + b } }
told("a list, and its parts") { ME == "node1" ? C.scatter([1, 2, 3]) : C.barrier }
told("in step") { C.reduce([ME]) { |a, b| a + b } }
told("named twice") { C.barrier(nodes: C.nodes + [ME.to_sym]) }
told("Symbols and Strings") { C.broadcast(ME, nodes: [:node1, "node2", :node3]) }

# A list that they work off. The others wait in their elements until this one has come to its first.
LIST = (1..30).to_a
def all_but(who, what)
  all = Kumihimo.pmap(LIST) do |x|
    ME == who ? signal(what) : S.local.peek(what)
    ME == who ? yield(x) : x
  end
  all == LIST ? :all : all
end

told("a block raises") { all_but("node2", "raises") { raise IndexError, "of node2" } }
told("the first one's") { all_but("node1", "the first") { raise IndexError, "of node1" } }
told("the end of a loop") { all_but("node3", "a loop") { raise StopIteration, "of node3" } }
told("all raise") { Kumihimo.pmap(LIST) { raise NotImplementedError, "whichever" } }
told("a block breaks") { all_but("node2", "breaks") { break :broken } }
told("a block throws") { catch(:out) { all_but("node3", "throws") { throw :out, :thrown } } }
told("a thread is killed in it") { Thread.new { all_but("node1", "is killed") { Thread.exit } }.value }
# Who is done before the others come does not hear of it.
refused = ->(all) { all.include?("ArgumentError") && (all - ["ArgumentError", 1, 30]).empty? }
told("lists of two lengths", refused) { Kumihimo.pmap(ME == "node2" ? LIST : [1]) { |x| x }.size }
told("in step again") { Kumihimo.pmap(LIST) { |x| x * 2 }.sum }

# Several threads of each node, that meet at the same time.
told("threads") do
  threads = Array.new(4) { Thread.new { Array.new(25) { C.reduce(1) { |a, b| a + b } } } }
  threads.map(&:value).flatten.tally
end
told("threads with lists") do
  threads = Array.new(3) { |n| Thread.new { Array.new(10) { Kumihimo.pmap(LIST) { |x| x + 1 } } } }
  threads.map(&:value).flatten(1).tally.then { |t| [t.size, t.values.sum] }
end
