# nodes: 12
# Twelve nodes meet along a tree: the first has eight below it, and three of these one each (names are in the order of letters).
require "kumihimo/cluster"

C = Kumihimo::Cluster
N = C.nodes.size
ME = C.nodes.index(C.self)
INNER, LAST = C.nodes[1], C.nodes.last
$said = []

def say(what, value) = $said << "#{what}: #{value.inspect}"

def raised
  yield
rescue => error
  "#{error.class}: #{error.message}"
end

# What all nodes say, once where they say the same.
def all_say
  all = C.reduce([$said]) { |a, b| a + b }.transpose
  all.each { |said| said.tally.each { |text, times| puts times == N ? text : "#{times} of them, #{text}" } } if ME.zero?
  $said = []
end

3.times { C.barrier }
say("in order", C.reduce("#{ME} ") { |a, b| a + b })
say("of the first", C.broadcast(ME.zero? ? [1, [2]] : nil))
say("of the last", C.broadcast(C.self == LAST ? { a: [] } : 7, from: LAST))
list = (0...N * 3 + 2).to_a
of_the_first = C.scatter(ME.zero? ? list : nil)
say("same parts of both", of_the_first == C.scatter(C.self == LAST ? list : nil, from: LAST))
say("parts together", C.reduce(of_the_first) { |a, b| a + b } == list)
say("a list worked off", Kumihimo.pmap((1..50).to_a) { |x| x * x }.sum)
few = C.nodes.values_at(1, 3, 4, 5, 6, 7, 8, 9, 10, 11)
say("ten of them", few.include?(C.self) ? C.reduce([ME], nodes: few) { |a, b| a + b } : [1, *3..11])
all_say

# Whose time is over keeps nobody else from meeting: neither those above nor those below it. The last one comes after that.
def gives_up(&block) = raised(&block).tap { Kumihimo::Segments[LAST].put("given up", true) }
def comes_last = (Kumihimo::Segments.local.take("given up") if C.self == LAST)

comes_last
say("an inner one's time", C.self == INNER ? gives_up { C.barrier(timeout: 0.2) } : raised { C.barrier(timeout: 60) })
C.barrier
comes_last
say("an inner one is interrupted", C.self == INNER ? gives_up { Timeout.timeout(0.2) { C.barrier } } : raised { C.barrier })
C.barrier
comes_last
say("the first one's time", C.self == C.nodes[0] ? gives_up { C.barrier(timeout: 0.2) } : raised { C.barrier })
C.barrier
all_say

# What one's block raises, all have.
say("an inner one's block", raised { C.reduce(ME) { |a, b| C.self == INNER ? raise(IndexError, "an inner one's") : a + b } })
say("the first one's block", raised { C.reduce(ME) { |a, b| ME.zero? ? raise(IndexError, "the first one's") : a + b } })
say("a block's time", raised { C.reduce(ME) { |a, b| ME.zero? ? raise(Kumihimo::Remote::TimeoutError, "a call's") : a + b } })
say("two who give", raised { C.broadcast(1, from: C.self == LAST ? LAST : INNER) })
say("nobody who gives", raised { C.scatter([1], from: "mars") })
all_say

# A node that ends without a word is missed by all of them, wherever it stands.
exit!(0) if C.self == INNER
lost = raised { C.barrier }
puts lost[/\A\w+::\w+/] if ME.zero?
