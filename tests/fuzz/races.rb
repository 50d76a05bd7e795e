# Random programs of threads that change shared objects of all core classes, with invariants that hold in whatever order
# their steps fall: what was put in is found or was taken, once; no value comes from nowhere; nothing is torn; nothing hangs.
#
#   kumi races.rb SEED [SECONDS] [ROUND]
#
# One operation on a core object is atomic (docs/ARCHITECTURE.md), several are not: an invariant speaks of single operations. A round is
# made of SEED and its number alone, so a failure names both; a third argument runs that round again, many times. KUMI_FUZZ_ONLY=name:
# only rounds of that name; more of them are in rounds.rb.

$VERBOSE = nil
require "set"
require "json"
require "monitor"
require "timeout"

SEED = Integer(ARGV[0] || 1)
SECONDS = Float(ARGV[1] || 10)
ONLY = ARGV[2] && Integer(ARGV[2])
THREADS = 4
STEPS = Integer(ENV["KUMI_FUZZ_STEPS"] || 400)
# Seconds after which a round counts as hung. A machine with more processes than cores needs more.
PATIENCE = Integer(ENV["KUMI_FUZZ_PATIENCE"] || 120)

class Broken < StandardError; end

# What a value is known by: a token is an Integer, a Float or a String that names its thread and number twice.
module Token
  def self.make(kind, thread, number)
    n = thread * 1_000_000 + number
    case kind
    when :int then n
    when :str then "#{n}:#{n}"
    when :float then n + 0.5
    when :sym then :"t#{n}"
    when :ary then [n, [n]]
    when :big then (n << 70) | n
    end
  end

  # The number of a token, nil when the value is none: it came from nowhere or is torn.
  def self.number(v)
    case v
    when Integer then v < 1 << 62 ? v : (v >> 70 == v & ((1 << 70) - 1) ? v >> 70 : nil)
    when Float then (v - 0.5).to_i
    when Symbol then v.name[1..].to_i
    when String
      a, b = v.split(":")
      a && a == b ? a.to_i : nil
    when Array then v.size == 2 && v[1].is_a?(Array) && v[1][0] == v[0] ? v[0] : nil
    end
  end
end

KINDS = %i[int str float sym ary big].freeze

class Round
  attr_reader :rng

  def initialize(number)
    @rng = Random.new(SEED * 1_000_003 + number)
    @number = number
  end

  def fail!(text) = raise(Broken, "seed #{SEED} round #{@number} #{@what}: #{text}")

  # Threads that each run the block with their number and generator; an error of one is the round's.
  def threads(count = THREADS)
    go = false
    list = count.times.map do |i|
      rng = Random.new(@rng.rand(1 << 60))
      Thread.new do
        Thread.pass until go
        yield i, rng
      end
    end
    list.each { |t| t.report_on_exception = false }
    go = true
    list.map(&:value)
  end

  # A reader that looks at the object until the others are done.
  def beside(look)
    done = false
    seen = 0
    reader = Thread.new do
      until done
        look.call
        seen += 1
        Thread.pass
      end
    end
    reader.report_on_exception = false
    yield
  ensure
    done = true
    reader&.value
  end

  def known!(v, from = nil)
    fail!("a value from nowhere: #{v.inspect[0, 80]}#{" in #{from}" if from}") if Token.number(v).nil?
  end

  # --- arrays: put, take, move ------------------------------------------------

  PUT = {
    push: ->(a, v, _) { a.push(v) }, shl: ->(a, v, _) { a << v }, unshift: ->(a, v, _) { a.unshift(v) },
    append2: ->(a, v, _) { a.append(v) }, concat: ->(a, v, _) { a.concat([v]) }, insert: ->(a, v, r) { a.insert(r.rand(4), v) },
    insert_back: ->(a, v, r) { a.insert(-1 - r.rand(3), v) rescue a.push(v) }
  }.freeze
  TAKE = {
    pop: ->(a, _) { [a.pop] }, shift: ->(a, _) { [a.shift] }, delete_at: ->(a, r) { [a.delete_at(r.rand(6))] },
    pop_n: ->(a, r) { a.pop(r.rand(4)) }, shift_n: ->(a, r) { a.shift(r.rand(4)) }, slice: ->(a, r) { a.slice!(r.rand(3), r.rand(4)) || [] },
    slice_back: ->(a, r) { [a.slice!(-1 - r.rand(3))] }, clear_by: ->(a, r) { a.slice!(0..r.rand(3)) || [] }
  }.freeze
  MOVE = {
    reverse: ->(a, _) { a.reverse! }, rotate: ->(a, r) { a.rotate!(r.rand(-5..5)) }, shuffle: ->(a, r) { a.shuffle!(random: Random.new(r.rand(99))) },
    sort: ->(a, _) { a.sort! rescue ArgumentError }, compact: ->(a, _) { a.compact! }, uniq: ->(a, _) { a.uniq! }
  }.freeze
  LOOK = [
    ->(a) { a.to_a.dup }, ->(a) { a.each { |v| v } ; a.dup }, ->(a) { a.reverse }, ->(a) { a.first(9) }, ->(a) { a.last(9) }, ->(a) { a.map { |v| v } },
    ->(a) { a + [] }, ->(a) { a[1..] || [] }, ->(a) { a.select { true } }, ->(a) { a.rotate(2) }, ->(a) { a.take(5) }, ->(a) { a.drop(3) }, ->(a) { a.uniq },
    ->(a) { a.inspect && [] }, ->(a) { a.include?(:never) ; a.index(:never) ; a.hash ; a == [1] ; [] }, ->(a) { a.each_slice(3).to_a.flatten(1) },
    ->(a) { a.values_at(0, 1, -1).compact }, ->(a) { a.each_with_index.map { |v, _| v } }, ->(a) { a.zip(a).map(&:first).compact }, ->(a) { (a.pack("") ; a.sample(3)) },
    ->(a) { [a].flatten(1) }, ->(a) { a.join("|") && [] }, ->(a) { a.partition { true }.first }, ->(a) { a.sum { 0 } ; a.count ; [] }
  ].freeze

  def arrays
    kind = KINDS.sample(random: rng)
    shared = []
    taken = Queue.new
    moves = MOVE.keys.sample(2, random: rng)
    # Arrays are compared by calls of methods, so that sorting them is several operations (CRuby's too).
    moves.delete(:sort) if kind == :ary
    look = LOOK.sample(3, random: rng)
    @what = "arrays of #{kind}, moved by #{moves.join(" ")}"
    put = nil
    beside(-> { look.each { |l| l.call(shared).each { |v| known!(v, "a reader") unless v.nil? } } }) do
      put = threads do |i, r|
        mine = []
        STEPS.times do |n|
          case r.rand(10)
          when 0..5
            PUT.values.sample(random: r).call(shared, Token.make(kind, i, n), r)
            mine << i * 1_000_000 + n
          when 6, 7
            TAKE.values.sample(random: r).call(shared, r).each { |v| taken << v unless v.nil? }
            taken << :skip
          else
            MOVE[moves.sample(random: r)].call(shared, r) unless moves.empty?
          end
        end
        mine
      end
    end
    out = []
    out << taken.pop until taken.empty?
    out.delete(:skip)
    all = out + shared.compact
    all.each { |v| known!(v) }
    numbers = all.map { |v| Token.number(v) }
    fail!("#{numbers.size - numbers.uniq.size} values came twice: #{numbers.tally.select { |_, c| c > 1 }.first(3)}") unless numbers.uniq.size == numbers.size
    lost = put.flatten - numbers
    fail!("lost #{lost.size} of #{put.sum(&:size)}: #{lost.first(3)}") unless lost.empty?
  end

  # One thread stores at places, others move: what it has stored is there.
  def stores
    kind = KINDS.sample(random: rng)
    size = rng.rand(2..40)
    shared = Array.new(size) { |k| Token.make(kind, 9, k) }
    moves = (MOVE.keys - (kind == :ary ? [:sort] : [])).sample(rng.rand(1..3), random: rng)
    @what = "stores of #{kind} into #{size} places, moved by #{moves.join(" ")}"
    threads do |i, r|
      STEPS.times do |n|
        if i == 0
          v = Token.make(kind, 0, n)
          r.rand(3) == 0 ? shared.fill(v, r.rand(size), 1) : shared[r.rand(size)] = v
          fail!("#{v.inspect} was stored and is gone") unless shared.include?(v)
        elsif i == 1
          shared.each { |v| known!(v) }
        else
          MOVE[moves.sample(random: r)].call(shared, r)
        end
      end
    end
    fail!("#{shared.size} elements of #{size}") unless shared.size == size
    shared.each { |v| known!(v) }
  end

  # Sorting, comparing, flattening beside threads that replace what is compared.
  def contents
    what = %i[strings arrays].sample(random: rng)
    inner = Array.new(12) { |k| what == :strings ? Token.make(:str, 8, k) : [Token.make(:int, 8, k)] * (k % 3 + 1) }
    shared = inner.dup
    @what = "contents of #{what}"
    looks = [
      -> { shared.sort }, -> { shared.sort.reverse }, -> { shared.min }, -> { shared.max }, -> { shared.minmax }, -> { shared.sort_by { |x| x } }, -> { shared.flatten.each { |v| known!(v) if what == :arrays } },
      -> { shared.uniq }, -> { shared.hash }, -> { shared == inner }, -> { shared <=> inner }, -> { shared.join(",") }, -> { shared.inspect }, -> { shared.transpose rescue IndexError },
      -> { shared.to_a.product([1]) }, -> { shared.include?("x") }, -> { shared.index(inner[3]) }, -> { shared.assoc(3) }, -> { shared - inner }, -> { shared & inner }, -> { shared | inner },
      -> { shared.tally }, -> { shared.group_by { |x| x } }, -> { Marshal.load(Marshal.dump(shared)) }, -> { shared.pack(what == :strings ? "a*" * 12 : "") rescue TypeError },
      -> { shared.sum(what == :strings ? "" : []) }, -> { shared.max(3) }, -> { shared.zip(*inner.grep(Array)) }, -> { shared.dig(3, 0) rescue TypeError }, -> { Comparable.instance_method(:clamp) },
      -> { shared.each_cons(2).map { |a, b| a <=> b } }, -> { shared.to_h { |x| [x, x] } }, -> { shared.combination(2).first(3) }, -> { shared.flatten(1) ; shared.dup.flatten! }
    ]
    threads do |i, r|
      (STEPS / 2).times do |n|
        x = inner[r.rand(inner.size)]
        if i < 2
          looks.sample(random: r).call
        elsif what == :strings
          case r.rand(5)
          when 0 then x.replace(Token.make(:str, i, n))
          when 1 then x.replace("")
          when 2 then x << ":x"
          when 3 then x.prepend("9")
          else x.clear
          end
        else
          case r.rand(6)
          when 0 then x.clear
          when 1 then x << Token.make(:int, i, n)
          when 2 then x.replace([Token.make(:int, i, n)])
          when 3 then x.pop
          when 4 then x.concat([Token.make(:int, i, n)] * 3)
          else x.shift
          end
        end
      end
    end
  end

  # --- hashes: each thread has keys of its own --------------------------------

  def hashes
    kind = (KINDS - [:ary]).sample(random: rng)
    shared = rng.rand(4) == 0 ? Hash.new { |_, k| k } : {}
    shared.compare_by_identity if kind == :int && rng.rand(3) == 0
    @what = "hashes by #{kind}"
    look = [
      -> { shared.each { |k, v| known!(k); known!(v) } }, -> { shared.keys.each { |k| known!(k) } }, -> { shared.values.each { |k| known!(k) } }, -> { shared.to_a }, -> { shared.inspect },
      -> { shared.size }, -> { shared.any? }, -> { shared.dup.each { |k, v| known!(v) } }, -> { shared.invert.size }, -> { shared.select { true }.size }, -> { shared.key(:none) },
      -> { shared.min_by { |_, v| Token.number(v) } }, -> { shared.sort_by { |_, v| Token.number(v) } }, -> { shared.hash }, -> { shared == {} }, -> { shared.merge({}) }, -> { shared.first(3) }
    ]
    own = nil
    beside(-> { look.sample.call rescue (raise unless $!.message.include?("iteration")) }) do
      own = threads do |i, r|
        mine = {}
        STEPS.times do |n|
          k = Token.make(kind, i, r.rand(60))
          begin
            case r.rand(12)
            when 0..3 then (v = Token.make(:int, i, n); shared[k] = v; mine[k] = v)
            when 4 then (v = Token.make(:int, i, n); shared.store(k, v); mine[k] = v)
            when 5 then (v = Token.make(:int, i, n); shared.update({k => v}); mine[k] = v)
            when 6, 7
              got = shared.delete(k)
              want = mine.delete(k)
              fail!("deleted #{got.inspect} under #{k.inspect}, which held #{want.inspect}") unless got == want
            when 8 then shared.rehash
            when 9 then shared.compact!
            when 10
              keys = mine.keys
              fail!("keys are missing: #{(keys - shared.keys).first(2)}") if shared.compare_by_identity? == false && !(keys - shared.keys).empty?
            else
              got = shared.fetch(k, nil)
              fail!("#{k.inspect} gives #{got.inspect}, was set to #{mine[k].inspect}") unless got == mine[k]
            end
          rescue RuntimeError => e
            # CRuby's own answer beside an iteration.
            raise if e.is_a?(Broken) || !e.message.match?(/iteration/)
            mine[k] = shared.fetch(k, nil)
            mine.delete(k) if mine[k].nil?
          end
        end
        mine
      end
    end
    all = own.inject({}) { |h, m| h.merge(m) }
    fail!("#{shared.size} pairs, not #{all.size}") unless shared.size == all.size
    all.each { |k, v| fail!("#{k.inspect} gives #{shared.fetch(k, nil).inspect}, not #{v}") unless shared.fetch(k, nil) == v }
    fail!("keys and pairs differ") unless shared.keys.size == shared.size && shared.each.to_a.size == shared.size
  end

  # --- strings: records of equal length --------------------------------------

  def strings
    shared = +""
    put = [:shl, :concat, :prepend, :insert].sample(2, random: rng)
    @what = "strings by #{put.join(" ")}"
    look = [
      -> { shared.dup }, -> { shared[0, 60] }, -> { shared.byteslice(0, 60) }, -> { shared + "" }, -> { shared.to_s.scan(/.{12}/m).join }, -> { shared.each_char.first(24).join }, -> { shared.b },
      -> { shared.upcase }, -> { shared.unpack("a*").first }, -> { shared.lines.join }, -> { shared.sub("x", "x") }, -> { shared.encode("UTF-8") }, -> { "#{shared}" }, -> { shared.bytes.pack("C*") }
    ]
    whole = ->(s) { s.bytesize % 12 == 0 || s.bytesize == 60 ? s.scan(/.{12}/m).each { |x| fail!("a torn record #{x.inspect}") unless x.match?(/\A(.{6})\1\z/) } : fail!("#{s.bytesize} bytes are no records") }
    beside(-> { l = look.sample.call; whole.call(l) }) do
      threads do |i, r|
        STEPS.times do |n|
          v = format("%d%05d", i, n) * 2
          case put.sample(random: r)
          when :shl then shared << v
          when :concat then shared.concat(v)
          when :prepend then shared.prepend(v)
          else shared.insert(0, v)
          end
        end
      end
    end
    fail!("#{shared.bytesize / 12} records of #{THREADS * STEPS}") unless shared.bytesize == THREADS * STEPS * 12
    records = shared.scan(/.{12}/)
    fail!("records were lost or doubled") unless records.uniq.size == THREADS * STEPS
    records.each { |x| fail!("a torn record #{x.inspect}") unless x[0, 6] == x[6, 6] }
  end

  # Strings that threads replace as a whole: a reader sees one of them.
  def replaced
    shared = +"00:00"
    @what = "strings replaced"
    threads do |i, r|
      STEPS.times do |n|
        if i < 2
          v = (i * 1_000_000 + n).to_s * r.rand(1..9)
          shared.replace("#{v}:#{v}")
          shared.force_encoding(r.rand(2) == 0 ? "UTF-8" : "BINARY") if r.rand(9) == 0
        else
          s = [-> { shared.dup }, -> { shared + "" }, -> { shared.to_sym.name }, -> { shared[0..] }, -> { shared.downcase }, -> { shared.strip }, -> { shared.split(",").join }, -> { shared.reverse.reverse }].sample(random: r).call
          a, b = s.split(":")
          fail!("a torn string #{s[0, 60].inspect}") unless a == b
        end
      end
    end
  end

  # --- what else threads share ------------------------------------------------

  Point = Struct.new(:a, :b, :c, :d)

  def members
    point = Point.new
    object = Object.new
    klass = Class.new
    constants = Module.new
    set = Set.new
    weak = ObjectSpace::WeakMap.new
    @what = "members, variables, constants, methods, sets"
    threads do |i, r|
      mine = []
      (STEPS / 4).times do |n|
        v = Token.make(KINDS.sample(random: r), i, n)
        point[i] = v
        fail!("a member changed by itself") unless point[i].equal?(v) || point[i] == v
        object.instance_variable_set(:"@v#{i}_#{n % 20}", v)
        fail!("a variable changed by itself") unless object.instance_variable_get(:"@v#{i}_#{n % 20}") == v
        klass.class_variable_set(:"@@v#{i}", v)
        fail!("a class variable changed by itself") unless klass.class_variable_get(:"@@v#{i}") == v
        if n % 10 == 0
          klass.define_method(:"m#{i}_#{n % 40}") { v }
          fail!("a method answers for another") unless klass.new.public_send(:"m#{i}_#{n % 40}") == v
          constants.const_set(:"C#{i}_#{n}", v)
          fail!("a constant is another") unless constants.const_get(:"C#{i}_#{n}") == v
          klass.send(:remove_method, :"m#{i}_#{n % 40}")
        end
        set << v
        mine << v
        fail!("a set's element is gone") unless set.include?(v)
        set.delete(mine.shift) if mine.size > 9
        key = "k#{i}#{n}"
        weak[key] = v
        fail!("a weak value is another") unless weak[key] == v
      end
      mine
    end.flatten(1).then do |left|
      fail!("#{set.size} elements, not #{left.uniq.size}") unless set.size == left.uniq.size
    end
    object.instance_variables.each { |name| known!(object.instance_variable_get(name)) }
  end

  def queues
    queue = rng.rand(2) == 0 ? Queue.new : SizedQueue.new(rng.rand(1..6))
    kind = KINDS.sample(random: rng)
    @what = "#{queue.class} of #{kind}"
    half = THREADS / 2
    takers = half.times.map { Thread.new { out = []; while (v = queue.pop) != :end do out << v end; out } }
    threads(half) { |i, _| STEPS.times { |n| queue << Token.make(kind, i, n) } }
    half.times { queue << :end }
    got = takers.flat_map(&:value)
    got.each { |v| known!(v) }
    numbers = got.map { |v| Token.number(v) }
    fail!("#{numbers.uniq.size} of #{half * STEPS} values, #{numbers.size} taken") unless numbers.uniq.size == half * STEPS && numbers.size == half * STEPS
  end

  def locks
    mutex = [Mutex.new, Monitor.new].sample(random: rng)
    count = 0
    ready = ConditionVariable.new
    @what = "locks, #{mutex.class}"
    threads do |i, r|
      STEPS.times do
        mutex.synchronize { n = count; Thread.pass if r.rand(20) == 0; count = n + 1 }
        ready.signal
      end
    end
    fail!("#{count}, not #{THREADS * STEPS}") unless count == THREADS * STEPS
  end

  # Any method of any shared object beside any other: nothing is asked but that the process lives and values are known.
  SKIP = %i[freeze instance_eval instance_exec define_singleton_method extend display initialize instance_variable_set clone undef_method singleton_class
            method_missing exit abort fork sleep then tap pp p puts print printf gets readlines select system exec spawn trap open loop raise fail throw catch binding
            combination permutation repeated_permutation repeated_combination product cycle encode! force_encoding crypt unpack unpack1 * ** pack fill ljust rjust center
            instance_variables remove_instance_variable public_send send __send__ to_enum enum_for each_entry lazy autoload to_proc object_id __id__ compare_by_identity
            default_proc= default= replace initialize_copy unicode_normalize unicode_normalize! undump succ! next! upto % setbyte].freeze

  def chaos
    kind = KINDS.sample(random: rng)
    shared = [
      Array.new(8) { |k| Token.make(kind, 7, k) }, Array.new(3) { |k| [Token.make(kind, 7, k)] }, {Token.make(kind, 7, 1) => Token.make(kind, 7, 2)}, +"7000001:7000001",
      Set[Token.make(kind, 7, 3)], Point.new(Token.make(kind, 7, 4), nil, nil, nil), (1..9), Token.make(kind, 7, 5)
    ]
    names = shared.map { |s| (s.public_methods(false) + s.class.public_instance_methods(false) + Enumerable.public_instance_methods(false)).uniq.select { |m| s.respond_to?(m) } - SKIP }
    @what = "chaos of #{kind}"
    threads do |_, r|
      (STEPS / 4).times do
        at = r.rand(shared.size)
        name = names[at].sample(random: r)
        args = Array.new(r.rand(3)) { r.rand(3) == 0 ? shared.sample(random: r) : [0, 1, -1, 2, nil, "7", :a, 1.5, 0..2, [1]].sample(random: r) }
        @trace&.call(at, name, args)
        begin
          if r.rand(4) == 0
            n = 0
            shared[at].public_send(name, *args) { |x| (n += 1) > 50 ? break : x }
          else
            result = shared[at].public_send(name, *args)
            result.first(3) if result.is_a?(Enumerator)
          end
        rescue StandardError, NotImplementedError, SystemStackError, NoMemoryError
          nil
        end
        shared[3].replace("7000001:7000001") if shared[3].bytesize > 10_000
        shared.first(3).each { |s| s.clear if s.size > 2_000 }
      end
    end
    shared.each { |s| s.inspect; s.hash; s == s.dup }
  end

  ALL = %i[arrays arrays stores contents hashes hashes strings replaced members queues locks chaos].freeze

  def run
    send(ENV["KUMI_FUZZ_ONLY"] || (ALL + ALSO).sample(random: rng))
  end
end
require_relative "rounds"

rounds = 0
stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS
begin
  until Process.clock_gettime(Process::CLOCK_MONOTONIC) > stop
    number = ONLY || rounds
    watch = Thread.new do
      sleep PATIENCE
      $stderr.puts "seed #{SEED} round #{number}: still running after #{PATIENCE} seconds" # `-W0` would silence a warning
      Process.kill(:ABRT, $$)
    end
    Round.new(number).run
    watch.kill
    rounds += 1
  end
rescue Broken => e
  puts e.message
  exit 1
end
puts "races: #{rounds} rounds of seed #{SEED}" if $stdout.tty? || ENV["KUMI_FUZZ_VERBOSE"]
puts "races: every invariant holds"
