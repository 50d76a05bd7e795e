# Runners get several code segments at once. Nobody can tell: one that waits, sleeps, dies or never ends holds up none of those that
# its runner had still to do, and the end of each is seen at once.
require "kumihimo/segments"
require "timeout"

S = Kumihimo::Segments
ds = S.local
ds.put("n", 1)
COUNT = Integer(ENV["KUMI_TEST_COUNT"] || "1000", 10).clamp(64, 1000)
ENDED = Thread::Queue.new

# Peeks, and has no output: its end needs nothing but to be noted.
class Quiet < Kumihimo::CodeSegment
  input :n, peek: "n"
  def initialize(i, &block) = (@i, @block = i, block)

  def run
    @block&.call
    ENDED << @i
  end
end

def others(count, at, &block) = Array.new(count) { |i| i == at ? Quiet.start(i, &block) : Quiet.start(i) }

[0, 1, COUNT / 2, COUNT - 1].each do |at|
  begun, gate = Thread::Queue.new, Thread::Queue.new
  all = others(COUNT, at) do
    begun << true
    gate.pop
  end
  rest = all.reject.with_index { |_, i| i == at }
  rest.each { |segment| segment.join(timeout: 60) }
  begun.pop
  puts "one waits: #{ENDED.size == COUNT - 1}, #{rest.all?(&:ended?)}, #{all[at].ended?}, #{S.stat.values_at(:waiting, :ready, :running)}"
  gate << 1
  S.settle
  puts "all: #{all.all?(&:ended?)}, #{Array.new(COUNT) { ENDED.pop }.sort == [*0...COUNT]}, #{S.stat.values_at(:waiting, :ready, :running)}"
end

# Each waits for the next one.
chain = Array.new(40) { Thread::Queue.new }
passed = Thread::Queue.new
links = Array.new(40) do |i|
  Quiet.start(i) do
    chain[i + 1].pop if i < 39
    passed << i
    chain[i] << i
  end
end
links.each { |segment| segment.join(timeout: 60) }
puts "a chain that ends with its last: #{Array.new(40) { passed.pop } == [*0...40].reverse}, #{Array.new(40) { ENDED.pop }.sort == [*0...40]}"

# One computes, and says when the others are done.
spins = others(100, 0) { Thread.pass until ENDED.size == 99 }
spins.each { |segment| segment.join(timeout: 60) }
puts "one spins: #{Array.new(100) { ENDED.pop }.last}"

# What a run sees of those behind it.
seen = nil
behind = []
first = Quiet.start(:first) do
  Thread.pass until behind.size == 20
  seen = behind.map(&:cancel).tally
end
20.times { |i| behind << Quiet.start(i) }
first.join(timeout: 60)
S.settle
puts "cancelled or ended: #{seen.values.sum}, #{seen[true].to_i + ENDED.size - 1}, #{behind.all?(&:ended?)}"
ENDED.clear

# Ended ones can be started anew while their runner is at another one.
gate = Thread::Queue.new
again = Quiet.new(:again)
blocks = nil
3.times do |i|
  again.start
  blocks = Quiet.start(:blocks) { gate.pop } if i == 0
  again.join(timeout: 60)
end
puts "three times: #{ENDED.size}, #{blocks.ended?}"
gate << 1
blocks.join
ENDED.clear

# A run's thread ends: what it had in hand goes on.
errors = $stderr.dup
$stderr.reopen(File::NULL)
kinds = [-> { Thread.current.kill }, -> { Thread.exit }, -> { raise "by intent" }, -> { throw :nowhere }]
dying = Array.new(COUNT) { |i| Quiet.start(i, &(i % 16 == 0 ? kinds[i / 16 % 4] : nil)) }
S.settle
$stderr.reopen(errors)
puts "some die: #{dying.all?(&:ended?)}, #{ENDED.size == COUNT - (COUNT + 15) / 16}"
ENDED.clear

# Idle runners are killed. Others come.
3.times do
  Thread.list.each { |thread| thread.kill if thread.name == "segments' runner" }
  all = others(50, nil)
  all.each { |segment| segment.join(timeout: 60) }
end
puts "after the idle ones: #{ENDED.size}"
ENDED.clear

# Repetitions begin anew from their ends.
times = Thread::Queue.new
repetition = Quiet.repeat(:again, parallel: 3) { (times << 1).size >= 300 }
repetition.join(timeout: 60)
S.settle
puts "repeated: #{repetition.count >= 300}, #{S.stat.values_at(:ready, :running)}"
ENDED.clear

# Threads start, join and cancel at random, while others block.
threads = Array.new(4) do |t|
  Thread.new do
    random = Random.new(t)
    (COUNT / 10).times do |i|
      segment = Quiet.start(i) do
        case random.rand(8)
        when 0 then Thread.pass
        when 1 then sleep 0.0001
        when 2 then ds.put("out", i)
        end
      end
      case random.rand(6)
      when 0 then segment.join(timeout: 60)
      when 1 then ENDED << i if segment.cancel
      when 2 then segment.ended?
      when 3 then S.stat
      end
    end
  end
end
threads.each(&:join)
S.settle
puts "from threads: #{ENDED.size == COUNT / 10 * 4}, #{S.stat.values_at(:waiting, :ready, :running, :leases)}"
ENDED.clear

# A fork's child has none of what its parent's runner had in hand.
if Process.respond_to?(:fork)
  read, write = IO.pipe
  forks = others(30, 3) do
    pid = fork do
      S.settle
      Quiet.start(:child).join
      write.puts("child: #{ENDED.size.between?(1, 30)}, #{S.stat.values_at(:waiting, :ready, :running)}")
      write.close
      exit!(0)
    end
    Process.wait(pid)
  end
  forks.each { |segment| segment.join(timeout: 60) }
  puts read.gets, "parent: #{ENDED.size}, #{S.stat.values_at(:waiting, :ready, :running)}"
end
