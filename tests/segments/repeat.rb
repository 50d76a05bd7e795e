# Code segments run again and again.
require "kumihimo/segments"
DS = Kumihimo::Segments.local
S = Kumihimo::Segments
CodeSegment = Kumihimo::CodeSegment
$stderr = File.open(File::NULL, "w")

def tell(label)
  value = yield
  puts "#{label}: #{value.inspect.gsub(/0x\h+/, "0x")}"
rescue Exception => e
  puts "#{label}: #{e.class}: #{e.message.gsub(/0x\h+/, "0x")}"
end

class Square < CodeSegment
  input :n, take: "n"
  attr_reader :squared
  def run
    @squared = n * n
    put("square", @squared)
  end
end

puts "-- until the block says that it is enough"
10.times { |i| DS.put("n", i) }
repetition = Square.repeat { |segment| segment.squared == 25 }
tell("join") { repetition.join.class }
tell("count") { [repetition.count, repetition.stopped?] }
tell("squares") { Array.new(6) { DS.take("square") } }
tell("what is left") { [DS.size("n"), DS.stat("n")[:waiting], S.stat[:waiting]] }
4.times { DS.take("n") }

puts "-- in parallel"
repetition = Square.repeat(parallel: 4)
1000.times { |i| DS.put("n", i) }
tell("all come out") { Array.new(1000) { DS.take("square") }.sort == Array.new(1000) { |i| i * i } }
Thread.pass until DS.stat("n")[:waiting] == 4
tell("four wait") { [DS.stat("n")[:waiting], repetition.count, repetition.stopped?] }
tell("a join in time") { repetition.join(timeout: 0.01) }
tell("stop") { repetition.stop.join.count }
tell("nobody waits") { [DS.stat("n")[:waiting], repetition.stopped?] }
tell("stop again") { repetition.stop.join.count }

puts "-- a run that raises ends it"
class Seven < CodeSegment
  input :n, take: "n"
  def run = n == 7 ? raise(ArgumentError, "seven") : put("fine", n)
end
5.upto(9) { |i| DS.put("n", i) }
repetition = Seven.repeat
tell("join") { repetition.join }
tell("count") { repetition.count }
tell("join again") { repetition.join }
tell("the segment came back") { [DS.peek("n"), DS.size("n")] }
2.times { DS.take("fine") }

puts "-- with dead letters it goes on"
class Letters < Seven
  dead_letters "dead", tries: 2
end
repetition = Letters.repeat(parallel: 2)
tell("what is fine") { [DS.take("fine"), DS.take("fine")].sort }
tell("what is not") { DS.take("dead").slice(:tries, :inputs) }
S.settle
tell("stop") { repetition.stop.join.count }

puts "-- arguments, and blocks that raise"
class Named < CodeSegment
  input :n, take: "n"
  def initialize(name, times:) = (@name, @times = name, times)
  def run = put("named", [@name, n * @times])
end
repetition = Named.repeat("x", times: 3) { raise IOError, "enough?" }
DS.put("n", 2)
tell("a block that raises") { repetition.join }
tell("the run itself was fine") { DS.take("named") }
tell("missing arguments") { Named.repeat }
[0, -1, 1.5, nil].each { |n| tell("parallel: #{n.inspect}") { Square.repeat(parallel: n) } }
class Third < CodeSegment
  @made = 0
  class << self
    attr_accessor :made
  end
  input :n, take: "n"
  def initialize
    raise IOError, "no third" if (Third.made += 1) == 3
  end
  def run = nil
end
3.times { DS.put("n", 0) }
tell("one that can not be made") { Third.repeat.join }
tell("at once") { Third.made = 0; Third.repeat(parallel: 5).join }
S.settle
DS.take("n") while DS.size("n") > 0
tell("nobody waits") { DS.stat("n").slice(:waiting, :leased) }
tell("one that can not be started") { Class.new(CodeSegment) { input :n, take: nil }.repeat(parallel: 2) }
tell("a thousand are stopped") { r = Square.repeat(parallel: 1000); [DS.stat("n")[:waiting], r.stop.join.count, DS.stat("n")[:waiting]] }
tell("a killed run does not end it") do
  class Killed < CodeSegment
    input :n, take: "n"
    def run = input(:n).deliveries < 3 ? Thread.current.kill : put("killed", n)
  end
  r = Killed.repeat { |s| true }
  DS.put("n", :k)
  r.join
  [DS.take("killed"), r.count]
end

puts "-- without inputs"
counter = 0
class Free < CodeSegment
  def run = put("free", 1)
end
tell("a hundred times") { Free.repeat { (counter += 1) == 100 }.join.count }
tell("free") { DS.size("free") }
100.times { DS.take("free") }
tell("stopped from inside") do
  r = nil
  Thread.new { r = Free.repeat { r&.stop; true } }.join
  r.join.stopped?
end
S.settle
DS.take?("free") while DS.size("free") > 0
tell("several repetitions of one key") do
  rs = Array.new(3) { Square.repeat(parallel: 2) }
  100.times { |i| DS.put("n", i) }
  100.times { DS.take("square") }
  S.settle
  rs.each(&:stop).sum { |r| r.join.count }
end
tell("stat") { S.stat.slice(:waiting, :ready, :running, :requests, :leases) }
