# Random calls of data segments and code segments from many threads, against what must hold: each segment that was put is taken once,
# those of one producer in their order, nobody waits for what is there, indexes rise.
#
#   kumi tests/fuzz/segments.rb SEED SECONDS
require "kumihimo/segments"
require "timeout"

SEED = Integer(ARGV[0] || "1", 10)
SECONDS = Integer(ARGV[1] || "3", 10)
DS = Kumihimo::Segments.local
S = Kumihimo::Segments
$stderr.sync = true

# What a round has put and taken.
class Book
  attr_reader :wrong

  def initialize
    @lock = Mutex.new
    @put = {}
    @taken = Hash.new(0)
    @wrong = []
  end

  def put(id) = @lock.synchronize { @put[id] = true }
  def taken(id) = @lock.synchronize { @taken[id] += 1 }
  def wrong!(text) = @lock.synchronize { @wrong << text }

  def check
    lost = @put.keys - @taken.keys
    twice = @taken.select { |_, n| n > 1 }.keys
    invented = @taken.keys - @put.keys
    @wrong << "lost: #{lost.first(5)} (#{lost.size})" unless lost.empty?
    @wrong << "taken twice: #{twice.first(5)} (#{twice.size})" unless twice.empty?
    @wrong << "never put: #{invented.first(5)} (#{invented.size})" unless invented.empty?
    @wrong
  end
end

# A code segment that may fail, die, be slow; by chance.
class Move < Kumihimo::CodeSegment
  input :part, take: nil
  def initialize(to, dice) = (@to, @dice = to, dice)

  def run
    case @dice
    when 0 then raise "by chance"
    when 1 then Thread.current.kill
    when 2 then Thread.pass
    when 3
      put(@to, part)
      raise IOError, "after a put"
    when 4 then return put(@to, part)
    when 5 then return put(@to, part, not_before: 0.001)
    when 6 then return put(@to, part, move: true)
    end
    flip :part, to: @to
  end
end

class Pair < Kumihimo::CodeSegment
  input :a, take: nil
  input :b, take: nil
  def initialize(to, dice) = (@to, @dice = to, dice)

  def run
    flip :a, to: @to
    raise "by chance" if @dice == 0
    put(@to, b)
  end
end

class Letters < Kumihimo::CodeSegment
  input :part, take: nil
  dead_letters "dead", tries: 3
  def run = raise("always")
end

class Round
  def initialize(seed)
    @random = Random.new(seed)
    @seed = seed
    @book = Book.new
    @threads = []
    @producers = []
    @started = Thread::Queue.new
    @name = "round.#{seed}."
  end

  def key(name) = @name + name
  def random = Random.new(@random.rand(1 << 30))

  def producer(number, keys, count, dice)
    thread = Thread.new do
      count.times do |n|
        id = [number, n]
        k = keys[dice.rand(keys.size)]
        begin
          case dice.rand(10)
          when 0 then DS.put(k, id, timeout: 0.01)
          when 1 then DS.put(k, [*id], move: true)
          when 2 then DS.key(k).put(id)
          when 3 then next unless DS.put?(k, id)
          when 4 then DS.put(k, id, ttl: 1000)
          else DS.put(k, id)
          end
          @book.put(id)
        rescue S::TimeoutError
          # There was no room.
        end
        Thread.pass if dice.rand(20) == 0
      end
    end
    @producers << thread
  end

  # Takes from one key until it is told that no more comes. What it has taken it notes, whatever is thrown at it.
  def taker(k, in_order, dice)
    Thread.handle_interrupt(IOError => :never) { @threads << Thread.new { take_all(k, in_order, dice) } }
  end

  def take_all(k, in_order, dice)
    last = Hash.new(-1)
    until @over && DS.size(k) == 0
      begin
        # Only while it waits is it interrupted: what it was given it notes.
        id = Thread.handle_interrupt(IOError => :on_blocking) { one(k, dice) }
      rescue IOError, S::TimeoutError
        next
      end
      next unless id
      @book.taken(id)
      @book.wrong!("#{k}: #{id} behind #{last[id[0]]}") if in_order && id[1] <= last[id[0]]
      last[id[0]] = id[1]
    end
  end

  def one(k, dice)
    case dice.rand(6)
    when 0 then DS.take?(k)
    when 1 then DS.take_segment(k, timeout: 0.002).value
    when 2 then DS.key(k).take(timeout: 0.002)
    when 3
      DS.peek?(k, after: 0)
      DS.take(k, timeout: dice.rand * 0.002)
    else DS.take(k, timeout: 0.005)
    end
  rescue S::NotShared
    nil
  end

  # Looks at the board, where indexes rise.
  def reader(k, dice)
    @threads << Thread.new do
      at = 0
      until @over
        begin
          s = DS.peek_segment(k, after: at, timeout: 0.005)
        rescue S::TimeoutError
          next
        end
        @book.wrong!("#{k}: index #{s.index} after #{at}") unless s.index > at
        at = s.index
        Thread.pass if dice.rand(5) == 0
      end
    end
  end

  def starter(works, to, count, dice)
    @producers << Thread.new do
      count.times do
        s =
          if dice.rand(3) == 0 && works.size > 1
            a, b = works.shuffle(random: dice)
            Pair.new(to, dice.rand(6)).set_key(:a, a).set_key(:b, b)
          elsif dice.rand(20) == 0
            Letters.new.set_key(:part, works.sample(random: dice))
          else
            Move.new(to, dice.rand(20)).set_key(:part, works.sample(random: dice))
          end
        s.start
        @started << s
        s.cancel if dice.rand(8) == 0
      end
    end
  end

  def interrupter(dice)
    Thread.new do
      until @over
        t = @threads.sample(random: dice)
        t.raise(IOError, "by chance") if t[:taker] && t.alive?
        sleep dice.rand * 0.002
      end
    end
  end

  def run
    plain = [key("plain.0"), key("plain.1")]
    works = Array.new(1 + @random.rand(3)) { |i| key("work.#{i}") }
    done = key("done")
    board = key("board")
    plain.each { |k| DS.limit(k, 1 + @random.rand(20)) if @random.rand(2) == 0 }
    count = 20 + @random.rand(100)
    2.times { |i| producer(i, [plain[i]], count, random) }
    producer(2, plain, count, random)
    2.times { |i| producer(3 + i, works, count, random) }
    # What one taker leaves, another may get late.
    plain.each { |k| (1 + @random.rand(2)).then { |n| n.times { taker(k, n == 1, random) } } }
    taker(done, false, random)
    @threads.each { |t| t[:taker] = true }
    reader(board, random)
    2.times { |i| @producers << Thread.new(random) { |dice| count.times { DS.update(board, [i, dice.rand]) } } }
    2.times { starter(works, done, count, random) }
    interrupts = interrupter(random) if @random.rand(2) == 0
    @producers.each(&:join)
    # The rest is moved by runs that do not fail.
    S.settle
    @started.pop.cancel until @started.empty?
    S.settle
    # What enters later has entered: what enters after the last look would stay.
    works.each do |k|
      sleep 0.002 while DS.stat(k)[:delayed] > 0
      Move.new(done, 19).set_key(:part, k).start.join while DS.size(k) > 0
    end
    @book.wrong!("who waits: #{S.stat}") if S.stat[:waiting] > 0
    sleep 0.002 while DS.stat(done)[:delayed] > 0
    @over = true
    @threads.each(&:join)
    interrupts&.join
    while (letter = DS.take?("dead"))
      @book.taken(letter[:inputs][:part])
      @book.wrong!("tries: #{letter[:tries]}") if letter[:tries] < 3
    end
    [*plain, *works, done].each do |k|
      stat = DS.stat(k)
      @book.wrong!("#{k}: #{stat}") if stat.values_at(:segments, :delayed, :leased, :waiting_puts).any?(&:positive?)
    end
    DS.take?(board)
    @book.check
  end
end

$stderr = File.open(File::NULL, "w")
stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS
seed = SEED
loop do
  wrong = begin
    Timeout.timeout(120) { Round.new(seed).run }
  rescue Exception => e
    [e.full_message(highlight: false), S.stat.to_s]
  end
  unless wrong.empty?
    puts "seed #{seed}:", wrong.first(10)
    exit 1
  end
  seed += 1
  break if Process.clock_gettime(Process::CLOCK_MONOTONIC) > stop
end
STDERR.puts "#{seed - SEED} rounds" if ENV["KUMI_FUZZ_VERBOSE"]
puts "segments: every invariant holds"
