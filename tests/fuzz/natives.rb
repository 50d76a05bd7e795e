# Calls every public method of every core class with random hostile arguments.
#
#   kumi natives.rb SEED [ROUNDS]
#
# Whatever a method answers or raises is fine; dying by a signal, an internal error of
# the runtime or never coming back is not, nor an error whose trace shows the runtime's own code. The same seed makes the same calls. Receivers are ordinary objects of each class, objects
# that were allocated and never initialised, and ordinary ones of which singleton methods lie. Arguments are in values.rb.
# KUMI_FUZZ_TRACE=file: each call is written there before it is made, so that the last
# line names the one that killed the process. KUMI_FUZZ_ONLY=Class#method: only that one. KUMI_FUZZ_TRACED=1: allocations are traced.
# KUMI_FUZZ_COUNTS=1: what was raised, and the slowest calls. KUMI_FUZZ_SHARE=n: one of n methods, by chance.

require "set"
require "stringio"
require "monitor"
require "tmpdir"
SEED = Integer(ARGV[0] || 1)
ROUNDS = Integer(ARGV[1] || 3)
RNG = Random.new(SEED)
TRACE = ENV["KUMI_FUZZ_TRACE"] && File.open(ENV["KUMI_FUZZ_TRACE"], "w").tap { |f| f.sync = true }
ONLY = ENV["KUMI_FUZZ_ONLY"]
SHARE = Integer(ENV["KUMI_FUZZ_SHARE"] || 1)
COUNTS = ENV["KUMI_FUZZ_COUNTS"]
# What is called may print: `1.send("p")` does.
REPORT = $stdout
$stdout = File.open(File::NULL, "w")
# Files that are made by chance are made here.
FOLDER = Dir.mktmpdir("kumi-natives")

# What ends, stops, blocks, replaces or forks the process, prints, or reads the terminal.
SKIP = %i[
  exit exit! abort fork exec sleep kill stop gets getc getch readline readlines display irb
  system spawn daemon trap ioctl fcntl syscall select wait wait2 waitpid waitall detach
  disable stress= reopen for_fd console exit_now! join value pop shift deq push enq << pass
  instance_variable_get debugger binding_irb remove_instance_variable at_exit set_trace_func add_trace_func
  wait_readable wait_writable wait_priority object_id __id__ abort_on_exception= report_on_exception= verify_compaction_references
].freeze
# Blocking or stopping only for these receivers; elsewhere the methods are called.
SKIP_ONLY = %i[value join pop shift deq push enq << wait remove_instance_variable instance_variable_get object_id __id__ pass].freeze
BLOCKING = [Thread, Thread::Queue, Thread::SizedQueue, Thread::ConditionVariable, Thread::Mutex].freeze

if ENV["KUMI_FUZZ_TRACED"]
  require "objspace"
  ObjectSpace.trace_object_allocations_start
end

require_relative "values"

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
  ObjectSpace::WeakKeyMap => -> { ObjectSpace::WeakKeyMap.new.tap { |m| m["k"] = "v" } },
  IO => -> { IO.pipe.then { |r, w| w << "ab\u65e5\n" * 3; w.close; r } },
  IO::Buffer => -> { [IO::Buffer.new(32), IO::Buffer.for("abcdefgh"), IO::Buffer.for(+"abcdefgh"), IO::Buffer.new(70_000), IO::Buffer.new(8).slice(2, 4), IO::Buffer.new(0), IO::Buffer.new(16).tap(&:free)].sample(random: RNG) },
  StringIO => -> { [StringIO.new("a\nb\u65e5\n\xff"), StringIO.new(+"", "w"), StringIO.new("x".freeze), StringIO.new.tap(&:close)].sample(random: RNG) },
  Enumerator::Yielder => -> { Enumerator::Yielder.new { |*a| a } },
  Enumerator::Product => -> { Enumerator::Product.new(1..2, [3, Meddler.new(RNG.rand(6))]) },
  Monitor => -> { Monitor.new },
  ThreadGroup => -> { ThreadGroup.new },
  Process::Status => -> { STATUS },
  Process::Tms => -> { Process.times },
  Thread::Backtrace::Location => -> { caller_locations(0).sample(random: RNG) },
  Refinement => -> { r = nil; Module.new { r = refine(String) { def q = 1 } }; r },
  Ractor::Port => -> { Ractor::Port.new },
  ARGF.class => -> { ARGF.class.new("/dev/null", "/etc/hostname") },
  Warning.singleton_class => -> { Warning },
  GC.singleton_class => -> { GC },
  ENV.singleton_class => -> { ENV },
  Point.singleton_class => -> { [Point, Named, Datum].sample(random: RNG) }
}
STATUS = system("true") && $?
# What `send` reaches and programs never name: how objects are made, and made again. Of these classes it would take the process's own descriptors.
REMADE = RECEIVERS.keys.reject { |k| k <= IO || k <= Dir || [Object, BasicObject, Thread, ARGF.class].include?(k) || k.singleton_class? }.freeze

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
  Method => [], Point => %i[new [] members keyword_init?], Datum => %i[new [] members], ObjectSpace::WeakMap => %i[new], IO::Buffer => %i[new for string map size_of], FileTest => FileTest.singleton_methods(false),
  Ractor => %i[current main main? count [] store_if_absent shareable? make_shareable shareable_proc shareable_lambda], Thread::Backtrace => %i[limit], Process::Tms => %i[new], Process::Status => [], IO => %i[try_convert read binread readlines]
}
# Singleton methods that would change, end or block the process itself, or write over what they are given.
UNSAFE = {
  Dir => %i[chroot chdir fchdir open new foreach], Encoding => %i[default_external= default_internal=], Fiber => %i[set_scheduler schedule], File => %i[umask mkfifo], GC => %i[config auto_compact= measure_total_time= enable],
  IO => %i[popen new open sysopen pipe foreach copy_stream read], Kernel => %i[` loop open require load gets eval set_trace_func trace_var], Process => Process.singleton_methods(false), Process::GID => %i[change_privilege grant_privilege eid= re_exchange],
  Process::UID => %i[change_privilege grant_privilege eid= re_exchange], Process::Sys => Process::Sys.singleton_methods(false), Ractor => %i[receive recv new []=], Thread => %i[new start ignore_deadlock= __report= __abort=], Regexp => %i[timeout=],
  ObjectSpace => %i[each_object], TracePoint => %i[trace]
}.freeze

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

# What no trace may show: lines of the runtime's own code and names of its helpers.
module KumiTrace
  HIDDEN = /<internal:|KumiSys|'(?:[^']*[#.])?__(?!send__|id__|dir__|method__|callee__)\w+'/
  def self.internal(error)
    shown = [error.backtrace, error.backtrace_locations&.map(&:to_s)].compact.flatten
    shown.find { |line| HIDDEN.match?(line) }
  rescue Exception
    nil
  end
end

def abort_with(text)
  REPORT.puts "seed #{SEED}: #{text}"
  REPORT.flush
  exit!(1)
end

# A method's name as a label can take it: hostile calls have defined some in other encodings.
# A call may have given a method a name that no label could hold, or a class a `to_s` that lies.
def shown(name)
  text =
    case name
    when Symbol then name.name
    when Module then Module.instance_method(:inspect).bind_call(name)
    else name.class.name
    end
  text.encoding.ascii_compatible? && text.valid_encoding? && [Encoding::UTF_8, Encoding::US_ASCII].include?(text.encoding) ? text : text.inspect
end

def attack(label, receiver, name, calls)
  return if ONLY && label != ONLY
  return if SHARE > 1 && RNG.rand(SHARE) > 0
  calls.times do
    $left = 200
    $endless = INDEXING.include?(name)
    args = Array.new([0, 0, 1, 1, 1, 2, 2, 3, 4].sample(random: RNG)) { hostile }
    block = RNG.rand(3) == 0 ? BLOCK : nil
    kw = RNG.rand(8) == 0 ? {[:a, :exception, :half, :chomp, :in, :by, :freeze, :mode, :encoding, :invalid].sample(random: RNG) => scalar} : {}
    target = $target = receiver.call
    TRACE&.puts "#{label} on #{begin; describe(target); rescue Exception; "?"; end} (#{args.map { |a| begin; describe(a); rescue Exception; "?"; end }.join(", ")}) #{kw} #{block && "{}"}"
    $count += 1
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC) if $slow
    begin
      if BasicObject === target && !(Object === target) || label.include?("send(") || label.include?(".allocate")
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
      inside = label.scrub.match?(/__\w|KumiSys|\Afatal\./) ? nil : KumiTrace.internal(e)
      abort_with("#{label}(#{args.map { |a| begin; describe(a); rescue Exception; "?"; end }.join(", ")}): #{inside}") if inside
      begin
        e.message
        e.full_message(highlight: false) if RNG.rand(20) == 0
      rescue Exception
        nil
      end
    end
    $slow[label] += Process.clock_gettime(Process::CLOCK_MONOTONIC) - began if $slow
  end
end

Dir.chdir(FOLDER)
$count = 0
$slow = Hash.new(0.0) if COUNTS
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
    attack("#{shown(klass)}##{shown(name)}", make_one, name, own.include?(name) ? ROUNDS : [ROUNDS / 3, 1].max)
  end
end

# What is private, by `send`: initialising again what is there, copying into it, hooks.
REMADE.each do |klass|
  names = klass.private_instance_methods(false) | %i[initialize initialize_copy initialize_dup initialize_clone]
  names -= klass.private_instance_methods(false) - %i[initialize initialize_copy] if klass <= Comparable && !klass.is_a?(Class)
  (names - SKIP - %i[using refine]).sort.each { |name| attack("#{shown(klass)}#send(:#{shown(name)})", RECEIVERS[klass], name, ROUNDS) }
end

# Objects that were never initialised, and each method they answer to.
BARE.each do |klass|
  names = klass.ancestors.take_while { |m| m != Object && m != BasicObject }.flat_map { |m| m.public_instance_methods(false) | m.private_instance_methods(false) }.uniq
  (names - SKIP - %i[using refine]).sort.each do |name|
    next if klass == ARGF.class && !%i[initialize lineno filename inplace_mode].include?(name)
    attack("#{shown(klass)}.allocate##{shown(name)}", -> { klass.allocate }, name, [ROUNDS / 3, 1].max)
  end
end

# Singleton methods that FUNCTIONS does not name.
ObjectSpace.each_object(Module).reject { |m| m.singleton_class? || m.name.nil? || Module.instance_method(:<=).bind_call(m, SystemCallError) }.sort_by(&:name).each do |mod|
  names = mod.singleton_methods(false) - SKIP - (FUNCTIONS[mod] || []) - (UNSAFE[mod] || [])
  names.sort.each { |name| attack("#{shown(mod)}.#{shown(name)}", -> { mod }, name, [ROUNDS / 3, 1].max) }
end

FUNCTIONS.each do |mod, names|
  names.each { |name| attack("#{shown(mod)}.#{shown(name)}", -> { mod }, name, ROUNDS * 2) }
end

# Marshal data with a few bytes changed.
dump = Marshal.dump([1, 2**70, 1.5, "é", :sym, :sym, {a: [nil, true]}, Point.new(1, 2), 1..3, Object, Kernel, /x/i, StandardError.new("m"), Rational(1, 2), Time.at(0), Set[1], Odd.new])
(ROUNDS * 40 / SHARE).times do
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

begin
  Dir.chdir("/")
  system("rm", "-rf", FOLDER)
rescue SystemCallError
  nil
end
REPORT.puts "seed #{SEED}: #{ONLY || $count * SHARE > 1000 ? "done" : "too few"}, #{$count} calls"
if COUNTS
  $raised.sort_by { |k, v| [-v, k.to_s] }.each { |k, v| REPORT.puts "#{v} #{k}" }
  $slow.sort_by { |_, v| -v }.first(20).each { |k, v| REPORT.puts format("%.2f s %s", v, k) }
end
