# A node of a cluster on which faults are made (tests/faults/run). It puts, takes, peeks, updates and runs code segments on all nodes at random,
# and writes what it asks for and what it is answered to a history, line by line, so that a kill loses nothing that was known.
#
# With FAULTS_STORE it is no node: what it calls is that store, a file or an address, whose keys are those of `store`.
#
# Lines of its input tell it what to do: `begin FILE EPOCH SEED` starts, `stop` lets every call come to its end, `drain` takes what is left on this
# node, `end` ends it. Keys are of an epoch.
require "timeout"
require "kumihimo/segments"
require_relative "stall"

S = Kumihimo::Segments
NODES = ENV.fetch("FAULTS_NODES").split(",")
LIFE = ENV.fetch("FAULTS_LIFE").to_i
ME = ENV.fetch("FAULTS_NAME")
ADDRESS = ENV["FAULTS_STORE"]
STORE =
  case ADDRESS
  when nil then nil
  when /:\/\// then S.connect(ADDRESS, lease: ENV.fetch("KUMI_SEGMENT_LEASE").to_i)
  else S.open(ADDRESS)
  end
OWNERS = STORE ? ["store"] : NODES

def manager(owner) = STORE || S[owner]
$stdout.sync = true

# What is written is one piece: threads do not mix, and what was written before a kill is there.
class History
  def initialize(path) = @file = File.open(path, File::WRONLY | File::APPEND | File::CREAT)

  def line(text) = @file.syswrite(text << "\n")

  def close = @file.close
end

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

# An operation under way.
class Operation
  def initialize(history, process, number, call, key, value: nil, commit: nil)
    @history = history
    @name = "{\"process\":\"#{process}\",\"op\":#{number}"
    more = "#{",\"value\":#{value}" if value}#{",\"commit\":#{commit}" if commit}"
    history.line("#{@name},\"call\":\"#{call}\",\"key\":\"#{key}\"#{more},\"start\":#{now}}")
  end

  def held(value, index) = @history.line("#{@name},\"value\":#{value},\"index\":#{index},\"held\":#{now}}")

  def commit(number) = @history.line("#{@name},\"commit\":#{number}}")

  def end(outcome, index: nil, value: nil)
    more = "#{",\"index\":#{index}" if index}#{",\"value\":#{value}" if value}"
    @history.line("#{@name},\"outcome\":\"#{outcome}\"#{more},\"end\":#{now}}")
  end
end

class GivesBack < StandardError; end

# A run that fails is told of; here they are to.
class Errors
  def initialize(io) = @io = io

  def write(*texts) = texts[0].to_s.start_with?("Work terminated") ? 0 : @io.write(*texts)

  def tty? = false
  def flush = @io.flush
end
$stderr = Errors.new(STDERR)

# Takes a segment, works on it for a while, and puts another in its stead.
class Work < Kumihimo::CodeSegment
  input :part, take: nil

  def initialize(client, owner, operation)
    @client = client
    @owner = owner
    @operation = operation
  end

  attr_reader :output

  def run
    @operation.held(part, input(:part).index)
    @client.nap(0.06)
    raise GivesBack if @client.chance(15)
    @output = @client.operation(:put, @owner, "out", value: (value = @client.new_value), commit: @client.number + 1)
    @operation.commit(@client.number)
    put @client.key("out"), value, on: STORE || @owner
  end
end

# A thread that calls.
class Client
  def initialize(epoch, name, seed)
    @epoch = epoch
    @process = "#{ME}/#{LIFE}/#{name}"
    @random = Random.new(seed)
    @number = 0
    # Distinct among all: nobody else has this prefix.
    @values = (((NODES.index(ME) * 1000 + LIFE) * 100 + epoch.clients) * 10**7)
    epoch.clients += 1
  end

  attr_reader :number

  def chance(percent) = @random.rand(100) < percent
  def nap(most) = sleep(@random.rand * most)
  def key(name) = "#{name}.#{@epoch.number}"
  def new_value = @values += 1
  def any_owner = OWNERS.sample(random: @random)

  def operation(call, owner, name, **more)
    Operation.new(@epoch.history, @process, @number += 1, call, "#{owner}/#{key(name)}", **more)
  end

  # Does it, and writes down what became of it.
  def write(call, name, at: any_owner, value: nil)
    operation = operation(call, at, name, value:)
    begin
      found = yield manager(at), key(name)
    rescue S::TimeoutError, S::NotConnected, S::Full, S::LeaseOver, S::StoreError => error
      nap(0.05) if error.is_a?(S::NotConnected) || error.is_a?(S::StoreError)
      return operation.end("refused")
    rescue S::NodeLost, Timeout::Error
      return operation.end("unknown")
    end
    case found
    when nil then operation.end("empty")
    when Integer then operation.end("ok", index: found)
    when Array then operation.end("ok", value: found[0], index: found[1])
    else operation.end("ok", value: found.value, index: found.index)
    end
  rescue Exception => error
    operation&.end("unknown")
    raise error unless error.is_a?(StandardError)
    $stdout.write("unexpected: #{call} #{name}: #{error.class}: #{error.message.tr("\n", " ")}\n")
  end

  def queue = chance(50) ? "a" : "b"

  def putter
    value = new_value
    write(:put, queue, value:) { |manager, key| manager.put(key, value, timeout: 2) }
    nap(0.04)
  end

  def taker
    if chance(60)
      write(:take, queue) { |manager, key| manager.take_segment(key, timeout: 0.5 + @random.rand * 3) }
    else
      # Nothing there: `take?` gives the value without its index.
      write(:take, queue) { |manager, key| (value = manager.take?(key)) && [value, nil] }
    end
    nap(0.05)
  end

  def worker
    name = any_owner
    operation = operation(:take, name, queued = queue)
    work = Work.new(self, name, operation).set_key(:part, key(queued), from: STORE || name)
    outcome =
      begin
        work.start
        joined(work)
      rescue GivesBack
        "back"
      rescue S::LeaseOver, S::NotConnected, S::StoreError
        "refused"
      rescue S::NodeLost
        "unknown"
      end
    work.output&.end(outcome == "back" ? "refused" : outcome)
    operation.end(outcome)
    nap(0.05)
  rescue StandardError => error
    operation&.end("unknown")
    $stdout.write("unexpected: run: #{error.class}: #{error.message.tr("\n", " ")}\n")
  end

  # It waits so long for its input; once it runs, for its end.
  def joined(work)
    work.join(timeout: 3)
    "ok"
  rescue S::TimeoutError
    return "refused" if work.cancel
    work.join
    "ok"
  end

  def outputs
    write(:take, "out") { |manager, key| manager.take_segment(key, timeout: 0.2 + @random.rand) }
    nap(0.02)
  end

  def register
    if chance(40)
      value = new_value
      write(:update, "state", value:) { |manager, key| Timeout.timeout(4) { manager.update(key, value) } }
    else
      write(:peek, "state") { |manager, key| Timeout.timeout(4) { (value = manager.peek?(key)) && [value, nil] } }
    end
    nap(0.04)
  end

  # Few: what meets here is searched.
  def mixed
    value = new_value
    case @random.rand(4)
    when 0, 1 then write(:put, "mixed", value:) { |manager, key| manager.put(key, value) }
    when 2 then write(:update, "mixed", value:) { |manager, key| manager.update(key, value) }
    else
      # By the owner itself, or one of a store's: it knows at once what it has.
      return nap(0.3) if STORE && ME != NODES[0]
      write(:take, "mixed", at: STORE ? "store" : ME) { |manager, key| (value = manager.take?(key)) && [value, nil] }
    end
    nap(0.3)
  end
end

# From `begin` to `stop`.
class Epoch
  KINDS = %i[putter putter taker taker worker worker outputs register mixed].freeze

  attr_reader :number, :history
  attr_accessor :clients

  def initialize(path, number, seed)
    @number = number
    @history = History.new(path)
    @clients = 0
    @threads = KINDS.each_with_index.map do |kind, i|
      client = Client.new(self, "#{kind}#{i}", seed * 100 + i)
      Thread.new { client.__send__(kind) until @stopped }
    end
  end

  def stop
    @stopped = true
    @threads.each(&:join)
  end

  # What is left on this node, or in the store.
  def drain
    return @history.close if STORE && ME != NODES[0]
    owner = STORE ? "store" : ME
    client = Client.new(self, "drain", 0)
    %w[a b out mixed].each do |name|
      loop do
        operation = client.operation(:take, owner, name)
        value = manager(owner).take?(client.key(name))
        operation.end(value ? "ok" : "empty", value:)
        break unless value
      end
      left = manager(owner).stat(client.key(name))
      $stdout.write("unexpected: #{name} has #{left}\n") unless left[:leased].zero? && left[:segments].zero? && left[:waiting].zero?
    end
    @history.close
  end
end

epoch = nil
# Its members may take a node for gone that is not.
STORE || S.on_leave do |node|
  epoch&.history&.line("{\"mark\":\"gone\",\"scope\":\"#{node}\",\"start\":#{now - 100_000_000},\"end\":#{now},\"text\":\"by #{ME}\"}")
rescue IOError
  # The epoch is over.
end

watch_for_stalls do |from, to|
  epoch&.history&.line("{\"mark\":\"stalled\",\"scope\":\"#{ME}\",\"start\":#{from},\"end\":#{to}}")
rescue IOError
  # The epoch is over.
end

puts "ready"
while (line = $stdin.gets)
  word, *rest = line.split
  case word
  when "begin" then epoch = Epoch.new(rest[0], rest[1].to_i, rest[2].to_i)
  when "stop" then epoch&.stop
  when "drain" then epoch&.drain
  when "members" then STORE || S.wait_for_nodes(NODES.size, timeout: 30)
  when "end" then exit
  end
  puts word
end
# Whoever makes the faults is gone.
exit!
