# Calls every public method of every core class with random hostile arguments.
#
#   kumi natives.rb SEED [ROUNDS]
#
# Whatever a method answers or raises is fine; dying by a signal, an internal error of
# the runtime or never coming back is not. The same seed makes the same calls.
# KUMI_FUZZ_TRACE=file: each call is written there before it is made, so that the last
# line names the one that killed the process. KUMI_FUZZ_ONLY=Class#method: only that one. KUMI_FUZZ_TRACED=1: allocations are traced.

SEED = Integer(ARGV[0] || 1)
ROUNDS = Integer(ARGV[1] || 3)
RNG = Random.new(SEED)
TRACE = ENV["KUMI_FUZZ_TRACE"] && File.open(ENV["KUMI_FUZZ_TRACE"], "w").tap { |f| f.sync = true }
ONLY = ENV["KUMI_FUZZ_ONLY"]

# What ends, stops, blocks, replaces or forks the process, prints, or reads the terminal.
SKIP = %i[
  exit exit! abort fork exec sleep kill stop gets getc getch readline readlines display irb
  system spawn daemon trap ioctl fcntl syscall select wait wait2 waitpid waitall detach
  disable stress= reopen for_fd console exit_now! join value pop shift deq push enq << pass
  instance_variable_get debugger binding_irb remove_instance_variable at_exit
  object_id __id__ abort_on_exception= report_on_exception= verify_compaction_references
].freeze
# Blocking or stopping only for these receivers; elsewhere the methods are called.
SKIP_ONLY = %i[value join pop shift deq push enq << wait remove_instance_variable instance_variable_get object_id __id__ pass].freeze
BLOCKING = [Thread, Thread::Queue, Thread::SizedQueue, Thread::ConditionVariable, Thread::Mutex].freeze

if ENV["KUMI_FUZZ_TRACED"]
  require "objspace"
  ObjectSpace.trace_object_allocations_start
end

class Budget < StandardError; end
class Odd
  def to_int = 3
  def to_str = "odd"
  def to_ary = [1, 2]
  def to_hash = {a: 1}
  def to_proc = proc { 1 }
  def <=>(_) = 0
  def coerce(o) = [o, 1]
end
class Wrong
  def to_int = "not an integer"
  def to_str = 1
  def to_ary = 2
  def to_hash = nil
  def to_s = 3
  def inspect = nil
  def ==(_) = raise("no ==")
  def hash = "no hash"
  def <=>(_) = nil
  def each = yield(self)
end
# Changes the receiver of the call, or raises, wherever it is asked for something.
class Meddler
  def initialize(way) = @way = way
  def meddle(answer)
    t = $target
    case @way
    when 0 then t.clear if t.respond_to?(:clear)
    when 1 then t.replace(t.class.new) if Array === t || String === t || Hash === t || Set === t
    when 2 then t.freeze if Array === t || String === t || Hash === t || Set === t
    when 3 then raise Budget, "meddled"
    when 4 then t << (String === t ? "more" * 50 : 1) if Array === t || String === t || Set === t
    when 5 then Array === t ? t.shift(2) : String === t ? t.force_encoding("UTF-16LE") : (t.rehash if Hash === t)
    end
    answer
  rescue FrozenError, RangeError
    answer
  end
  def to_int = meddle(1)
  def to_str = meddle("a")
  def to_s = meddle("m")
  def to_ary = meddle([1, 2])
  def to_hash = meddle({a: 1})
  def to_proc = meddle(proc { |x| meddle(x) })
  def to_sym = meddle(:a)
  def to_f = meddle(1.0)
  def to_r = meddle(1r)
  def <=>(o) = meddle(o.hash <=> 0)
  def ==(_) = meddle(@way.even?)
  def ===(_) = meddle(true)
  def eql?(_) = meddle(@way.odd?)
  def hash = meddle(1)
  def coerce(o) = meddle([o, 1])
  def each = (yield meddle(1); yield meddle(2); self)
  def succ = meddle(self)
  def +(_) = meddle(self)
  def call(*) = meddle(1)
end
class Missing
  def method_missing(name, *) = name == :to_ary ? super : nil
  def respond_to_missing?(*) = true
end
Point = Struct.new(:x, :y)
Named = Struct.new(:a, :b, keyword_init: true)
Datum = Data.define(:left, :right)

def deep(n) = (a = []; [n, 10_000].min.times { a = [a] }; a)
def recursive_array = [1].tap { |a| a << a }
def recursive_hash = {a: 1}.tap { |h| h[:self] = h }
def recursive_struct = Point.new(1, nil).tap { |s| s.y = s }

INTS = [0, 1, -1, 2, 3, 7, 10, 36, 63, 64, 65, 255, 256, 1000, 2**30, 2**31 - 1, 2**31, -2**31, 2**32, 2**32 - 1, 2**53, 2**61, 2**62 - 1, 2**62, -2**62, -2**62 - 1,
        2**63 - 1, 2**63, -2**63, -2**63 - 1, 2**64 - 1, 2**64, 10**25, -10**25, 3**500].freeze
FLOATS = [0.0, -0.0, 0.5, -1.5, 1e-320, 1e20, 1e308, -1e308, Float::NAN, Float::INFINITY, -Float::INFINITY, 2.0**62, 2.0**63, -2.0**63].freeze
STRINGS = ["", "a", "abc", "1", "0x1f", "12.5e3", "1/3", "\xff", "a\xE3\x81", "日本語", "é\u0301", "\u{1F600}", "\0", "a\0b", "\\", "(", "[", "a{9999}", "%", "%s", "%-999999999d", "%1$*2$d", "%c%f%x",
           "C*", "x9999999999", "@99999999999", "w*", "U*", "m", "P", "p", "j*", "^a-z", "a-", "r", "w", "\n", "\r\n", "%Y-%m-%d", "%9999999999Y", "%10000000d", "UTF-8", "US-ASCII", "no such encoding",
           "x" * 300, "\xE3\x81".b, "\xff\xfe".dup.force_encoding("UTF-16LE"), "\0a".dup.force_encoding("UTF-16BE"), "ab\x80".dup.force_encoding("EUC-JP"), "\x82".dup.force_encoding("Shift_JIS"), "@a", "@@a", "$a", "Foo", "Foo::Bar"].freeze
SYMBOLS = [:a, :b, :x, :size, :+, :[]=, :foo, :"", :"a b", :"日", :each, :to_s, "\xff".b.to_sym, :up, :nfkc, :@a, :@@a, :$a, :Foo, :half_even, :nanosecond].freeze
PATTERNS = [/a/, //, /(?<n>.)(.)?/, /(a+)+$/, /\xff/n, /[^\x00-\x7f]/, /\Ab|\z/, /(?=x)|y*/, /\G./m].freeze

def scalar
  case RNG.rand(16)
  when 0..3 then INTS.sample(random: RNG)
  when 4, 5 then FLOATS.sample(random: RNG)
  when 6..8 then s = STRINGS.sample(random: RNG); RNG.rand(3) == 0 ? s : s.dup
  when 9, 10 then SYMBOLS.sample(random: RNG)
  when 11 then PATTERNS.sample(random: RNG)
  when 12 then [nil, true, false].sample(random: RNG)
  when 13 then RNG.rand(20) - 5
  when 14 then [Rational(1, 3), Rational(-2**70, 3), Complex(1, -2.5), Complex(Float::NAN, 0), 1.5r].sample(random: RNG)
  else [Comparable, Kernel, Integer, String, Object, Float, Encoding::UTF_8, Encoding::UTF_16LE, BasicObject].sample(random: RNG)
  end
end

def hostile
  case RNG.rand(29)
  when 0..13 then scalar
  when 14 then Array.new(RNG.rand(5)) { scalar }
  when 15 then Array.new(RNG.rand(4)) { scalar }.freeze
  when 16 then begin {scalar => scalar, a: scalar} rescue {} end
  when 17 then recursive_array
  when 18 then recursive_hash
  when 19 then begin Range.new(*($endless ? [[1, 5], [nil, 3], [2, nil], [-1, -1], [0, 2**64], [2**62, nil], [nil, nil]] : [[1, 5], ["a", "e"], [-1, -1], [1.5, 9]]).sample(random: RNG), RNG.rand(2) == 0) end
  when 20 then [Odd, Wrong, Missing, Object, BasicObject].sample(random: RNG).new
  when 21 then [proc { |*a| a }, ->(x) { x }, :upcase.to_proc, method(:deep)].sample(random: RNG)
  when 22 then [Point.new(1, 2), recursive_struct, Named.new(a: 1), Datum.new(1, 2), Set[1, :a]].sample(random: RNG)
  when 23 then [[3, 1, 2].each, (1..4).lazy, "ab".each_char, 1.step(10, 3), [1].each + [2]].sample(random: RNG)
  when 25, 26 then Meddler.new(RNG.rand(6))
  when 27 then Array.new(RNG.rand(1..4)) { |i| i == 1 ? Meddler.new(RNG.rand(6)) : scalar }
  when 24 then deep([1, 50, 5000].sample(random: RNG))
  else [Time.at(0), Random.new(1), StandardError.new("e"), "abc".match(/b/), ENV, Thread.current, 1.method(:+)].sample(random: RNG)
  end
end

# Receivers, made afresh for each call.
RECEIVERS = {
  Integer => -> { INTS.sample(random: RNG) },
  Float => -> { FLOATS.sample(random: RNG) },
  Rational => -> { [Rational(1, 3), Rational(-7, 2), Rational(10**30, 7), 0r].sample(random: RNG) },
  Complex => -> { [Complex(1, 2), Complex(0, 1.5), Complex(Float::NAN, 1), Complex(1r / 3, 2), Complex(3, 0)].sample(random: RNG) },
  String => -> { STRINGS.sample(random: RNG).dup },
  Symbol => -> { SYMBOLS.sample(random: RNG) },
  Regexp => -> { PATTERNS.sample(random: RNG) },
  MatchData => -> { ["xaby".match(/(?<n>a)(?<m>q)?b/), "日本\xff".b.match(/(.)(.)/n)].sample(random: RNG) },
  Array => -> { [[], [3, 1, 2], [1, "a", nil, :b, 2.5], recursive_array, [[1, 2], [3, 4]], %w[a b c], (1..40).to_a, [1].freeze, deep(60), [0.5, Float::NAN], [2, Meddler.new(RNG.rand(6)), "b", Meddler.new(RNG.rand(6))]].sample(random: RNG) },
  Hash => -> { [{}, {a: 1, "b" => 2}, recursive_hash, Hash.new { |h, k| h[k] = 1 }, {1 => 2}.freeze, {Float::NAN => 1, [1] => 2}.compare_by_identity, (1..30).to_h { |i| [i, i] }].sample(random: RNG) },
  Range => -> { [1..5, 1...1, "a".."e", 1.5..3, (nil..3), (0..-1), ("a".."zz"), (1..2**64).freeze].sample(random: RNG) },
  Set => -> { [Set[], Set[1, "a", nil], Set[Set[1]], Set[1, 2].freeze].sample(random: RNG) },
  Point => -> { [Point.new(1, "a"), recursive_struct, Point.new, Named.new(a: 1, b: 2)].sample(random: RNG) },
  Datum => -> { Datum.new(left: 1, right: [2]) },
  NilClass => -> {}, TrueClass => -> { true }, FalseClass => -> { false },
  Proc => -> { [proc { |a, b = 1, *c, d:, **e| a }, ->(x) { x }, :size.to_proc, proc { raise "in proc" }].sample(random: RNG) },
  Method => -> { [1.method(:+), [].method(:push), "".method(:sub), method(:deep)].sample(random: RNG) },
  UnboundMethod => -> { [Array.instance_method(:each), Integer.instance_method(:+)].sample(random: RNG) },
  Enumerator => -> { [[1, 2, 3].each, "abc".each_char, Enumerator.new(3) { |y| y << 1 << 2 }, [4, 5].each_with_index, {a: 1}.each, 5.times].sample(random: RNG) },
  Enumerator::Lazy => -> { (1..6).lazy.map { |x| x } },
  Enumerator::Chain => -> { [1].each + [2, 3] },
  Enumerator::ArithmeticSequence => -> { [1.step(10, 3), (1.0..2.0).step(0.5), 10.step(1, -4)].sample(random: RNG) },
  Time => -> { [Time.at(0), Time.utc(2024, 2, 29, 1, 2, 3.5r), Time.at(-1, in: "+09:00"), Time.at(2**40)].sample(random: RNG) },
  Random => -> { Random.new(3) },
  Exception => -> { [StandardError.new("x"), KeyError.new("k", receiver: {}, key: 1), Exception.new(nil), SystemCallError.new(2), (begin; nil.foo; rescue NoMethodError => e; e; end)].sample(random: RNG) },
  Encoding => -> { [Encoding::UTF_8, Encoding::UTF_16LE, Encoding::BINARY, Encoding::EUC_JP].sample(random: RNG) },
  Encoding::Converter => -> { Encoding::Converter.new("UTF-8", "UTF-16LE") },
  Module => -> { Module.new { def a = 1; const_set(:C, 1) } },
  Class => -> { Class.new { def a = 1; attr_accessor :b } },
  Object => -> { Object.new },
  BasicObject => -> { Class.new(BasicObject).new },
  Comparable => -> { Odd.new.extend(Comparable) },
  Enumerable => -> { Wrong.new.extend(Enumerable) },
  Fiber => -> { Fiber.new { |x| Fiber.yield(x); x } },
  Thread => -> { Thread.new { 1 }.tap(&:join) },
  Thread::Mutex => -> { Thread::Mutex.new },
  Thread::Queue => -> { Thread::Queue.new([1, 2]) },
  Thread::SizedQueue => -> { Thread::SizedQueue.new(2) },
  Thread::ConditionVariable => -> { Thread::ConditionVariable.new },
  Binding => -> { binding },
  File => -> { File.open(File::NULL, "r+") },
  File::Stat => -> { File.stat("/") },
  Dir => -> { Dir.new("/") },
  ObjectSpace::WeakMap => -> { ObjectSpace::WeakMap.new.tap { |m| m["k"] = "v" } },
  ObjectSpace::WeakKeyMap => -> { ObjectSpace::WeakKeyMap.new.tap { |m| m["k"] = "v" } }
}

# Module functions and constructors that are harmless with any argument.
FUNCTIONS = {
  Kernel => %i[Integer Float String Array Hash Rational Complex format sprintf rand srand catch throw proc lambda caller caller_locations raise block_given? frozen? then test],
  Math => Math.singleton_methods(false), Process => %i[clock_gettime clock_getres getpgid getrlimit times pid getpriority],
  Marshal => %i[dump load], GC => %i[stat count start], ObjectSpace => %i[count_objects garbage_collect], Signal => %i[list signame], Warning => %i[[]],
  Comparable => [], Array => %i[new try_convert []], Hash => %i[new try_convert [] ruby2_keywords_hash?], String => %i[new try_convert], Integer => %i[sqrt try_convert], Symbol => %i[all_symbols],
  Regexp => %i[new compile escape union last_match linear_time? try_convert], Range => %i[new], Struct => %i[new], Data => %i[define], Set => %i[new []], Time => %i[at new utc gm local mktime now],
  Random => %i[new rand bytes new_seed seed random_number urandom], Enumerator => %i[new produce product], Encoding => %i[find compatible? aliases name_list], Encoding::Converter => %i[new asciicompat_encoding search_convpath],
  Class => %i[new], Module => %i[new], Object => %i[new], Exception => %i[new exception to_tty?], SystemCallError => %i[new ===], NameError => %i[new], KeyError => %i[new], UncaughtThrowError => %i[new],
  Proc => %i[new], Fiber => %i[new yield current [] []=], Thread => %i[current main list handle_interrupt pending_interrupt? each_caller_location], Rational => [], Complex => %i[rect polar rectangular],
  File => %i[basename dirname extname expand_path absolute_path absolute_path? join split fnmatch fnmatch? exist? file? directory? stat lstat readlink realpath realdirpath size size? zero? ftype identical? symlink? path readable? writable? executable? mtime atime],
  Dir => %i[exist? empty? glob [] children entries each_child home pwd], ENV => %i[[] []= fetch key? key values_at slice assoc rassoc delete except dig store value? find_all map to_h filter_map],
  Method => [], Point => %i[new [] members keyword_init?], Datum => %i[new [] members], ObjectSpace::WeakMap => %i[new]
}

# Iterating these receivers without a block would never end.
ENDLESS = %i[to_a entries to_set sum count sort sort_by min max minmax reverse_each each_entry inject reduce tally to_h include? member? group_by partition each_slice each_cons zip cycle chunk_while slice_when
             map flat_map select filter reject uniq last min_by max_by minmax_by each_with_index each_with_object find_index first find detect all? any? none? one? === cover? step % each to_json join none? lazy drop drop_while
             take_while take filter_map find_all collect collect_concat grep grep_v compact each_entry zip sum to_set reverse_each overlap? hash tally_by drop chunk slice_before slice_after].freeze

# Ranges without an end are given to these only: others would walk them for ever, in any Ruby.
INDEXING = %i[[] []= slice slice! byteslice fill values_at rand clamp cover? === == eql? random_number at first bytesplice between?].freeze

$left = 0
BLOCK = proc do |*a|
  $left -= 1
  raise Budget, "enough" if $left < 0
  RNG.rand(3) == 0 ? scalar : a.first
end

def describe(x)
  x = x.class.name if !(Integer === x || Float === x || String === x || Symbol === x || nil == x || true == x || Regexp === x)
  x.inspect[0, 60]
rescue Exception
  "?"
end

def attack(label, receiver, name, calls)
  return if ONLY && label != ONLY
  calls.times do
    $left = 200
    $endless = INDEXING.include?(name)
    args = Array.new([0, 0, 1, 1, 1, 2, 2, 3, 4].sample(random: RNG)) { hostile }
    block = RNG.rand(3) == 0 ? BLOCK : nil
    kw = RNG.rand(8) == 0 ? {[:a, :exception, :half, :chomp, :in, :by, :freeze, :mode, :encoding, :invalid].sample(random: RNG) => scalar} : {}
    target = $target = receiver.call
    TRACE&.puts "#{label} on #{begin; describe(target); rescue Exception; "?"; end} (#{args.map { |a| begin; describe(a); rescue Exception; "?"; end }.join(", ")}) #{kw} #{block && "{}"}"
    $count += 1
    begin
      if BasicObject === target && !(Object === target)
        target.__send__(name, *args, **kw, &block)
      else
        r = target.public_send(name, *args, **kw, &block) unless name == :__private
        # Whatever came back must be fit for use.
        r.inspect.size if RNG.rand(4) == 0 && !(Range === target || Enumerator === r || Range === r)
        r.hash if Array === r && r.size < 50
      end
    rescue SignalException, SystemExit
      raise
    rescue Exception => e
      $raised[e.class] += 1
      begin
        e.message
        e.full_message(highlight: false) if RNG.rand(20) == 0
      rescue Exception
        nil
      end
    end
  end
end

$count = 0
$raised = Hash.new(0)
$stderr = File.open(File::NULL, "w")
$VERBOSE = nil

RECEIVERS.each do |klass, make|
  names = case klass
          when Module, Class then klass.public_instance_methods
          end
  names = BasicObject.instance_methods if klass.equal?(BasicObject)
  own = klass.public_instance_methods(false)
  names.sort.each do |name|
    next if SKIP.include?(name) && !(SKIP_ONLY.include?(name) && !BLOCKING.include?(klass))
    next if klass == Fiber && name == :kill || klass == Dir && name == :chdir || klass == Thread && %i[exit terminate].include?(name)
    make_one = klass == Range && ENDLESS.include?(name) ? -> { [1..5, 1...1, "a".."e", 0..-1].sample(random: RNG) } : make
    attack("#{klass}##{name}", make_one, name, own.include?(name) ? ROUNDS : [ROUNDS / 3, 1].max)
  end
end

FUNCTIONS.each do |mod, names|
  names.each { |name| attack("#{mod}.#{name}", -> { mod }, name, ROUNDS * 2) }
end

# Marshal data with a few bytes changed.
dump = Marshal.dump([1, 2**70, 1.5, "é", :sym, :sym, {a: [nil, true]}, Point.new(1, 2), 1..3, Object, Kernel, /x/i, StandardError.new("m"), Rational(1, 2), Time.at(0), Set[1], Odd.new])
(ROUNDS * 40).times do
  bytes = dump.dup
  RNG.rand(1..4).times { bytes.setbyte(RNG.rand(bytes.bytesize), RNG.rand(256)) }
  bytes = bytes.byteslice(0, RNG.rand(bytes.bytesize)) if RNG.rand(4) == 0
  attack("Marshal.load bytes", -> { Marshal }, :itself, 0)
  next if ONLY && ONLY != "Marshal.load bytes"
  TRACE&.puts "Marshal.load bytes #{bytes.inspect}"
  $count += 1
  begin
    Marshal.load(bytes).inspect
  rescue Exception => e
    $raised[e.class] += 1
  end
end

puts "seed #{SEED}: #{$count > 1000 || ONLY ? "done" : "only #{$count} calls"}"
if ENV["KUMI_FUZZ_COUNTS"]
  puts "#{$count} calls"
  $raised.sort_by { |k, v| [-v, k.to_s] }.each { |k, v| puts "#{v} #{k}" }
end
