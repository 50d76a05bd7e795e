# A node of a cluster on which faults are made (tests/faults/run --workload remote). Its objects and those of others are made, handed on, linked,
# called and dropped at random. Each has a token that nothing else has, so that a call that meets another object is seen.
#
# Lines of its input tell it what to do: `begin FILE EPOCH SEED` starts, `stop` lets every call come to its end and asks what became of those that are
# to be done once, `drain` drops all that is held and waits until nothing of this node is held by others, `end` ends it. What should not be is told by
# lines that begin with `unexpected`; a reference that is of no use by a line `event`, which the harness judges by the faults that it made.
#
# With FAULTS_CYCLES objects refer to each other in circles, too.
require "kumihimo/remote"
require_relative "stall"

R = Kumihimo::Remote
S = Kumihimo::Segments
NODES = ENV.fetch("FAULTS_NODES").split(",")
LIFE = ENV.fetch("FAULTS_LIFE").to_i
ME = ENV.fetch("FAULTS_NAME")
CYCLES = ENV["FAULTS_CYCLES"] == "1"
# How many references a node's table has and how many an object, from how many levels it is, and seconds until garbage is gone.
MOST = 60
LINKS = 4
LEVELS = 4
BOUND = 30
$stdout.sync = true

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
def tell(text) = $stdout.write(text.tr("\n", " ") << "\n")

# A reference, what it is to, and since when and from whom it is had.
Held = Struct.new(:ref, :token, :owner, :level, :lender, :since) do
  # As arguments.
  def row = [ref, token, owner, level, ME, lender, since]

  # One that was handed over by `lender` now; within this node it is had since it came here.
  def self.of(ref, token, owner, level, lender, before, since)
    lender == ME ? new(ref, token, owner, level, before, since) : new(ref, token, owner, level, lender, now)
  end

  # Calls it. What comes of it, or nil.
  def call(what = "a call")
    FIGURES[:calls] += 1
    R.within(3) { yield ref }
  rescue Kumihimo::NodeLostError => error
    FIGURES[:unknown] += 1 if error.outcome == :perhaps_done
    lost(error)
    nil
  rescue R::NoObject => error
    tell("event no-object #{ME} #{owner} #{lender} #{since} #{now} #{token}: #{error.message}")
    nil
  rescue R::TimeoutError, R::Refused
    FIGURES[:unknown] += 1
    nil
  rescue StandardError => error
    tell("unexpected: #{what} of #{token}: #{error.class}: #{error.message} #{error.backtrace&.first}")
    nil
  end

  # Its node was out of reach, or took this one for gone. The latter is for good.
  def lost(error)
    at = now
    sleep 1
    R.within(3) { ref.itself_too }
    FIGURES[:away] += 1
  rescue Kumihimo::NodeLostError, R::NoObject => again
    lost = GC.stat(:cluster)[:nodes_lost]
    tell("event lost #{ME} #{owner} #{lender} #{since} #{at} #{token}: #{error.message}; #{again.message}; #{lost} sessions lost here")
  rescue R::TimeoutError, R::Refused
    FIGURES[:unknown] += 1
  end

  # Is it the object that it was? nil: it can't be said.
  def right?
    found = call { |ref| ref.token }
    tell("unexpected: #{token} is #{found}") if found && found != token
    found && found == token
  end
end

FIGURES = Hash.new(0)

# What is made, handed on and dropped.
class Thing
  include R

  LOCK = Mutex.new

  def initialize
    @level = rand(LEVELS)
    @token = "#{ME}/#{LIFE}/#{LOCK.synchronize { FIGURES[:made] += 1 }}"
    @links = []
  end

  attr_reader :token, :level
  def itself_too = true

  # It refers to that one from now on.
  def link(*row)
    LOCK.synchronize do
      @links.shift if @links.size >= LINKS
      @links << Held.of(*row)
    end
    true
  end

  # Follows a link from here.
  def walk
    link = LOCK.synchronize { @links.sample }
    return true unless link
    return true if link.right?
    LOCK.synchronize { @links.delete_if { |l| l.equal?(link) } }
    true
  end
end

# Counts what is to be done once.
class Counter
  include R

  LOCK = Mutex.new

  def initialize = @done = {}

  def life = LIFE
  def itself_too = true

  def add(name)
    LOCK.synchronize do
      tell("unexpected: #{name} is done twice") if @done[name]
      @done[name] = true
    end
    LIFE
  end

  # Of these, those that were not done though they are said to be, or were though not.
  def wrong(done, not_done) = LOCK.synchronize { [done.reject { |n| @done[n] }, not_done.select { |n| @done[n] }] }
end

# What others ask of this node.
class Desk
  include R

  def itself_too = true

  def make = (thing = Thing.new and [thing, thing.token, ME, thing.level, ME])

  def take(*row)
    FIGURES[:taken] += 1
    TABLE.put(Held.of(*row))
    true
  end
end

# What this node holds.
class Table
  def initialize
    @all = []
    @lock = Mutex.new
  end

  def put(held)
    @lock.synchronize do
      @all.delete_at(rand(@all.size)) if @all.size >= MOST
      @all << held
    end
  end

  def some(random) = @lock.synchronize { @all.sample(random:) }
  def drop(held) = @lock.synchronize { @all.delete_if { |h| h.equal?(held) } }
  def clear = @lock.synchronize { @all.clear }
end

TABLE = Table.new

# A thread that calls.
class Client
  def initialize(name, seed)
    @name = "#{ME}/#{LIFE}/#{name}"
    @random = Random.new(seed)
    @desks = {}
    @counters = {}
    @number = 0
    # By the counter's node and life: what was done, and what was not.
    @done = Hash.new { |h, k| h[k] = [[], []] }
  end

  def nap(most) = sleep(@random.rand * most)

  # An object that has a name there.
  def named(name, known, node)
    known[node] ||= Held.new(R.find(name, on: node, timeout: 1), name, node, 0, node, now)
  rescue Kumihimo::NodeLostError, R::TimeoutError, R::Refused, S::NotConnected
    nap(0.1)
    nil
  end

  def desk(node = NODES.sample(random: @random))
    desk = named("desk", @desks, node) or return
    got = desk.call("the desk") { |ref| yield ref }
    @desks.delete(node) if got.nil?
    got
  end

  def maker
    row = desk(&:make)
    TABLE.put(Held.new(*row, now)) if row
    nap(0.03)
  end

  def hander
    held = TABLE.some(@random)
    return nap(0.1) unless held
    # It may have come to its end since it was had: that is said when it is called.
    @random.rand(2) == 0 ? desk { |ref| ref.take(*held.row) } : lay_down(held)
    TABLE.drop(held) if @random.rand(2) == 0
    nap(0.03)
  end

  # Puts it into a segment of some node, which takes it when it likes.
  def lay_down(held)
    S[NODES.sample(random: @random)].put("hand", [held.row, now], move: true)
    FIGURES[:laid] += 1
  rescue Kumihimo::NodeLostError, R::NoObject
    # It is of no use any more.
    TABLE.drop(held)
  rescue S::NodeLost, S::NotConnected, S::TimeoutError
    FIGURES[:unknown] += 1
  end

  def taker
    row, laid = S.local.take?("hand")
    return nap(0.1) unless row
    held = Held.of(*row)
    # A fault that came while it lay there may have cost the segment its reference.
    held.since = [held.since, laid].min
    TABLE.put(held)
  end

  def linker
    from, to = TABLE.some(@random), TABLE.some(@random)
    return nap(0.1) if !from || from.equal?(to)
    # Without circles those of higher levels refer to those of lower ones.
    from, to = to, from if !CYCLES && from.level < to.level
    return if !CYCLES && from.level == to.level
    from.call("a link") { |ref| ref.link(*to.row) }
    nap(0.03)
  end

  def caller
    held = TABLE.some(@random)
    return nap(0.1) unless held
    if !held.right?
      TABLE.drop(held)
    elsif @random.rand(3) == 0
      held.call("a walk", &:walk)
    elsif @random.rand(4) == 0
      TABLE.drop(held)
    end
    nap(0.02)
  end

  def adder
    node = NODES.sample(random: @random)
    counter = named("counter", @counters, node) or return
    life = counter.call(&:life)
    return @counters.delete(node) unless life
    5.times do
      name = "#{@name}/#{@number += 1}"
      FIGURES[:calls] += 1
      begin
        tell("unexpected: #{name} was done in another life") if R.within(3) { counter.ref.add(name) } != life
        @done[[node, life]][0] << name
      rescue Kumihimo::NodeLostError => error
        case error.outcome
        when :done then @done[[node, life]][0] << name
        when :not_sent then @done[[node, life]][1] << name
        else FIGURES[:unknown] += 1
        end
        @counters.delete(node)
        break
      rescue R::TimeoutError, R::Refused
        FIGURES[:unknown] += 1
      rescue R::NoObject => error
        tell("event no-object #{ME} #{node} #{node} #{counter.since} #{now} the counter: #{error.message}")
        @counters.delete(node)
        break
      end
      nap(0.01)
    end
  end

  # Was each done that is said to be?
  def audit
    @done.each do |(node, life), (done, not_done)|
      counter = named("counter", {}, node)
      next if !counter || counter.call(&:life) != life
      lost, twice = counter.call { |ref| ref.wrong(done, not_done) }
      tell("unexpected: #{lost.size} calls were not done that were answered: #{lost.first(3)}") if lost&.any?
      tell("unexpected: #{twice.size} calls were done that were not sent: #{twice.first(3)}") if twice&.any?
    end
    @done.clear
  end

  def forget
    @desks.clear
    @counters.clear
  end
end

class Epoch
  KINDS = %i[maker hander taker linker caller caller adder adder].freeze

  def initialize(seed)
    @clients = KINDS.each_with_index.map { |kind, i| [kind, Client.new("#{kind}#{i}", seed * 100 + i)] }
    @threads = @clients.map do |kind, client|
      Thread.new do
        until @stopped
          begin
            client.__send__(kind)
          rescue StandardError => error
            tell("unexpected: #{kind}: #{error.class}: #{error.message} #{error.backtrace&.first}")
          end
        end
      end
    end
  end

  def stop
    @stopped = true
    @threads.each(&:join)
    @clients.each { |_, client| client.audit }
  end

  # Nobody here holds anything. How long it takes until nobody elsewhere holds anything of this node.
  def drain
    @clients.each { |_, client| client.forget }
    TABLE.clear
    nil while S.local.take?("hand")
    start = now
    collections = GC.stat(:major_gc_count)
    while (left = ObjectSpace.exports.size) > 0 && now - start < BOUND * 1_000_000_000
      sleep 0.05
      # A machine that others use may leave no time for collections.
      GC.start if now - start > BOUND * 500_000_000
    end
    took = (now - start) / 1_000_000
    if left > 0
      left = ObjectSpace.exports
      collections = GC.stat(:major_gc_count) - collections
      some = left.first(5).map { |object, holders| "#{Thing === object ? object.token : object.class} by #{holders.join("+")}" }
      tell("unexpected: #{left.size} objects are held after #{BOUND} s, #{some.join(", ")}; #{collections} full collections; #{GC.stat(:cluster)}")
    end
    tell("figures calls #{FIGURES[:calls]} laid #{FIGURES[:laid]} unknown #{FIGURES[:unknown]} taken #{FIGURES[:taken]} made #{FIGURES[:made]} gone #{took}")
    FIGURES.delete_if { |name, _| name != :made }
  end
end

R.register("desk", Desk.new)
R.register("counter", Counter.new)

watch_for_stalls { |from, to| tell("event stalled #{ME} #{ME} #{ME} #{from} #{to} -") }

epoch = nil
puts "ready"
while (line = $stdin.gets)
  word, *rest = line.split
  case word
  when "begin" then epoch = Epoch.new(rest[2].to_i)
  when "stop" then epoch&.stop
  when "drain" then epoch&.drain
  when "members" then S.wait_for_nodes(NODES.size, timeout: 30)
  when "end" then exit
  end
  puts word
end
# Whoever makes the faults is gone.
exit!
