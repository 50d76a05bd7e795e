# stress.rb [SECONDS] [SEED]: many tasks change shared Arrays, Hashes, Strings, objects and classes at random and
# check invariants all the time. Tokens move between containers and must all be there at the end. A broken
# invariant prints what broke and the one line that replays it, and the exit status is 1.
require "timeout"
require "set"

SECONDS = (ARGV[0] || 3).to_f
SEED = (ARGV[1] || 1).to_i
TASKS = 12
TOKENS = 300
MODES = ENV.to_h.slice("KUMI_WORKERS", "KUMI_SCHED_STRESS", "KUMI_GC_STRESS", "KUMI_STACK_STRESS")

class Broken < Exception; end

def replay = [*MODES.map { |k, v| "#{k}=#{v}" }, "kumi", $0, SECONDS, SEED].join(" ")
FAILED = Queue.new
def check(ok, what)
  return if ok
  raise Broken, what.to_s
end

# What tasks share.
BAGS = Array.new(3) { |i| i == 0 ? (0...TOKENS).to_a : [] }
PERM = (1..40).to_a
MAPS = Array.new(3) { |i| i == 0 ? (0...TOKENS).to_h { |k| [k, k * 7] } : {} }
NAMED = Hash.new { |h, k| h[k] = "#{k}!" }
TAPE = TOKENS.times.map { |i| "<%03d>" % i }.join
SHEET = +"a" * 32
LOG = +""
SETS = [Set.new(0...TOKENS), Set.new]
LINE = Queue.new
NARROW = SizedQueue.new(4)
LOCK = Mutex.new
Cell = Struct.new(:a, :b, :c)
CELL = Cell.new(0, 0, 0)
class Target; def fixed = :fixed; end
class Lower < Target; def fixed = super; end
OBJECTS = Array.new(4) { Target.new }
LOWER = Lower.new
$counted = 0
TOKENS.times { |i| LINE << i }

class Work
  attr_reader :steps, :logged, :counted, :balance, :step
  def initialize(n)
    @n = n
    @r = Random.new(SEED * 1000 + n)
    @steps = @logged = @counted = @balance = 0
  end

  def run(ends)
    while now < ends && FAILED.empty?
      @step = STEPS[@r.rand(STEPS.size)]
      send(@step)
      @steps += 1
    end
    @step = :done
  end
  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  def any(list) = list[@r.rand(list.size)]

  def bag_move
    from, to = any(BAGS), any(BAGS)
    x = case @r.rand(4)
        when 0 then from.pop
        when 1 then from.shift
        when 2 then from.delete_at(@r.rand(TOKENS))
        else from.slice!(0, 1)&.first
        end
    return if x.nil?
    check(x.between?(0, TOKENS - 1), "token #{x.inspect} in an Array")
    case @r.rand(5)
    when 0 then to << x
    when 1 then to.unshift(x)
    when 2 then to.push(x)
    when 3 then to.concat([x])
    else to.insert(0, x)
    end
  end
  def bag_look
    b = any(BAGS).dup
    check(b.size <= TOKENS && b.uniq.size == b.size, "an Array holds a token twice: #{b.tally.select { |_, n| n > 1 }}")
    any(BAGS).each { |x| check(x.nil? || x.is_a?(Integer), "#{x.class} in an Array") }
    any(BAGS).include?(5)
    any(BAGS).inspect
  end
  def bag_order
    b = any(BAGS)
    case @r.rand(5)
    when 0 then b.sort!
    when 1 then b.reverse!
    when 2 then b.rotate!(3)
    when 3 then b.shuffle!
    else b.uniq!
    end
  end
  def perm_change
    case @r.rand(5)
    when 0 then PERM.sort!
    when 1 then PERM.reverse!
    when 2 then PERM.rotate!(@r.rand(40))
    when 3 then PERM.shuffle!
    else PERM.replace((1..40).to_a)
    end
  end
  def perm_look
    s = PERM.dup
    check(s.size == 40 && s.sum == 820 && s.uniq.size == 40, "a permutation is #{s.inspect}")
    check(PERM.size == 40, "a permutation changes its size")
    s = 0
    PERM.each { |x| s += x }
  end

  def map_move
    from, to = any(MAPS), any(MAPS)
    k = @r.rand(TOKENS)
    v = from.delete(k) or return
    check(v == k * 7, "#{k} has #{v.inspect} in a Hash")
    case @r.rand(3)
    when 0 then to[k] = v
    when 1 then to.merge!({ k => v })
    else to.store(k, v)
    end
  end
  def map_shift
    from, to = any(MAPS), any(MAPS)
    kv = from.shift or return
    check(kv[1] == kv[0] * 7, "shift gives #{kv.inspect}")
    to[kv[0]] = kv[1]
  end
  def map_look
    m = any(MAPS).dup
    m.each { |k, v| check(v == k * 7, "#{k.inspect} has #{v.inspect} in a copied Hash") }
    check(m.keys.uniq.size == m.size, "a Hash has a key twice")
    v = any(MAPS)[k = @r.rand(TOKENS)]
    check(v.nil? || v == k * 7, "#{k} reads #{v.inspect}")
    h = any(MAPS)
    h.to_a.each { |k2, v2| check(v2 == k2 * 7, "to_a of a Hash gives #{[k2, v2].inspect}") }
    h.values.size
    h.inspect
  end
  def named
    k = "name#{@r.rand(40)}"
    v = NAMED[k]
    check(v == "#{k}!", "#{k} is named #{v.inspect}")
    NAMED.delete(k) if @r.rand(3) == 0
  end

  def tape_turn
    x = TAPE.slice!(0, 5)
    return if x.nil? || x.empty?
    check(x.size == 5 && x.match?(/\A<\d{3}>\z/), "a record reads #{x.inspect}")
    @r.rand(2) == 0 ? TAPE << x : TAPE.concat(x)
  end
  def tape_look
    t = TAPE.dup
    check(t.size % 5 == 0 && t.size <= TOKENS * 5, "a tape of #{t.size}")
    r = t.scan(/<\d\d\d>/)
    check(r.size == t.size / 5 && r.uniq.size == r.size, "a tape with #{r.size} records, #{r.uniq.size} different")
  end
  def sheet
    if @r.rand(2) == 0
      SHEET.replace((97 + @r.rand(26)).chr * (8 + @r.rand(60)))
    else
      s = SHEET.dup
      check(s.squeeze.size == 1 && s.size >= 8, "a sheet reads #{s.inspect}")
      SHEET.upcase; SHEET.index("b"); SHEET.hash; SHEET =~ /c+/; SHEET.bytes.size; SHEET.inspect
    end
  end
  def log
    LOG << "log."
    @logged += 1
  end

  def set_move
    i = @r.rand(2)
    x = @r.rand(TOKENS)
    SETS[1 - i].add(x) if SETS[i].delete?(x)
  end
  def line_turn
    x = begin
      LINE.pop(true)
    rescue ThreadError
      return
    end
    check(x.is_a?(Integer), "#{x.inspect} in a Queue")
    LINE << x
  end
  def narrow
    if @r.rand(2) == 0
      @balance += 1 if NARROW.push(1, timeout: 0.0005)
    else
      @balance -= 1 if NARROW.pop(timeout: 0.0005)
    end
    check(NARROW.size <= 4, "a SizedQueue of 4 holds #{NARROW.size}")
  end
  def count
    LOCK.synchronize do
      x = $counted
      Thread.pass if @r.rand(20) == 0
      $counted = x + 1
    end
    @counted += 1
  end
  def cell
    v = @r.rand(100)
    CELL.a = v
    CELL[:b] = v
    check(CELL.to_a.all?(Integer), "a Struct holds #{CELL.to_a.inspect}")
  end

  def ivars
    o = any(OBJECTS)
    k = @r.rand(60)
    if @r.rand(2) == 0
      o.instance_variable_set("@v#{k}", k * 5)
    else
      v = o.instance_variable_get("@v#{k}")
      check(v.nil? || v == k * 5, "@v#{k} is #{v.inspect}")
    end
    o.instance_variables.each { |n| check(n.start_with?("@v"), "an instance variable #{n}") } if @r.rand(10) == 0
  end
  def define
    k = @r.rand(30)
    case @r.rand(5)
    when 0 then Target.define_method("m#{k}") { k * 3 }
    when 1 then Target.class_eval("def m#{k} = #{k * 3}")
    when 2 then Lower.define_method("m#{k}") { super() + 0 }
    when 3 then any([Target, Lower]).then { |c| c.send(:remove_method, "m#{k}") if c.method_defined?("m#{k}", false) }
    else LOWER.define_singleton_method("m#{k}") { k * 3 }
    end
  rescue NameError
    nil
  end
  def call
    k = @r.rand(30)
    v = any([*OBJECTS, LOWER]).send("m#{k}")
    check(v == k * 3, "m#{k} gives #{v.inspect}")
  rescue NoMethodError
    nil
  end
  def call_often
    8.times { check(LOWER.fixed == :fixed, "super gets lost") }
    check(Lower.ancestors.first == Lower && Lower.ancestors.include?(Target), "ancestors get lost")
  end
  def reopen_class
    k = @r.rand(20)
    Target.const_set("C#{k}", k) unless Target.const_defined?("C#{k}", false)
    v = Target.const_get("C#{k}")
    check(v == k, "a constant is #{v.inspect}")
    Target.include(Module.new { define_method("from_module") { k } }) if Target.ancestors.size < 30
  end
  def symbols
    k = @r.rand(100_000)
    check("sym#{k}".to_sym.equal?(:"sym#{k}"), "two symbols sym#{k}")
    o = any(OBJECTS)
    check(o.object_id == o.object_id, "an object's id changes")
  end

  def fails(n)
    n == 0 ? raise(ArgumentError, "x#{@n}") : fails(n - 1)
  ensure
    @unwound += 1
  end
  def raises
    @unwound = 0
    n = @r.rand(6)
    fails(n)
  rescue ArgumentError => e
    check(e.message == "x#{@n}" && $!.equal?(e), "another's exception")
    check(@unwound == n + 1, "#{@unwound} ensure clauses of #{n + 1} ran")
  end
  def throws
    v = catch(:out) { [1, 2, 3].each { |x| throw :out, [@n, x] if x == 2 } }
    check(v == [@n, 2], "a catch gives #{v.inspect}")
  end
  def fibers
    f = Fiber.new { |x| loop { x = Fiber.yield(x + @n) } }
    3.times { |i| check(f.resume(i) == i + @n, "a fiber's value") }
    e = [@n, 2].each
    check(e.next == @n && e.next == 2, "an enumerator's values")
  end
  def children
    case @r.rand(4)
    when 0
      check(Thread.new(@n) { |x| x * 2 }.value == @n * 2, "a thread's value")
    when 1
      done = []
      t = Thread.new { begin; sleep; ensure; done << 1; end }
      Thread.pass until t.stop?
      t.kill
      t.join
      check(done == [1], "an ensure ran #{done.size} times")
    when 2
      t = Thread.new { Thread.current.report_on_exception = false; sleep }
      Thread.pass until t.stop?
      t.raise(IndexError, "sent")
      m = begin; t.value; rescue IndexError => e; e.message; end
      check(m == "sent", "a sent exception gives #{m.inspect}")
    else
      t = Thread.new { LOCK.synchronize { sleep } }
      Thread.pass until t.stop?
      t.kill
      t.join
    end
  end
  def timeouts
    r = begin
      Timeout.timeout(0.001) { sleep }
    rescue Timeout::Error
      :cut
    end
    check(r == :cut, "a timeout gives #{r.inspect}")
  end
  def deep(n = 200) = n == 0 ? 0 : 1 + deep(n - 1)
  def recursion = check(deep == 200, "a recursion")
  def garbage
    a = 50.times.map { |i| ["s#{i}", { i => [i.to_f] }] }
    GC.start if @r.rand(40) == 0
    check(a.each_with_index.all? { |(s, h), i| s == "s#{i}" && h[i] == [i.to_f] }, "young objects")
  end

  OFTEN = %i[bag_move bag_look bag_order perm_change perm_look map_move map_shift map_look named tape_turn tape_look sheet log
             set_move line_turn count cell ivars call call_often symbols]
  STEPS = OFTEN * 4 + %i[narrow define reopen_class raises throws fibers children timeouts recursion garbage]
end

works = Array.new(TASKS) { |n| Work.new(n) }
ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS
threads = works.map do |w|
  Thread.new do
    Thread.current.report_on_exception = false
    w.run(ends)
  rescue Exception => e
    FAILED << "#{e.class}: #{e.message} (in #{w.step})\n  #{e.backtrace&.first(6)&.join("\n  ")}"
  end
end
LIMIT = 60
until threads.none?(&:alive?)
  sleep 0.02
  now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  next unless now > ends + LIMIT
  works.zip(threads) { |w, t| FAILED << "stuck in #{w.step}\n  #{t.backtrace&.first(8)&.join("\n  ")}" if t.alive? }
  break
end

final = {
  "tokens of Arrays" => [BAGS.flatten.sort, (0...TOKENS).to_a],
  "keys of Hashes" => [MAPS.flat_map(&:keys).sort, (0...TOKENS).to_a],
  "records of a String" => [TAPE.scan(/<(\d+)>/).flatten.map(&:to_i).sort, (0...TOKENS).to_a],
  "members of Sets" => [SETS.flat_map(&:to_a).sort, (0...TOKENS).to_a],
  "items of a Queue" => [Array.new(LINE.size) { LINE.pop }.sort, (0...TOKENS).to_a],
  "items of a SizedQueue" => [NARROW.size, works.sum { |w| w.balance }],
  "a counter" => [$counted, works.sum(&:counted)],
  "a log" => [LOG.size, works.sum(&:logged) * 4],
} if FAILED.empty?
final&.each { |what, (got, want)| FAILED << "#{what}: #{got.inspect[0, 300]} instead of #{want.inspect[0, 300]}" if got != want }

if FAILED.empty?
  puts "every invariant holds"
  warn "#{works.sum(&:steps)} steps" if ARGV[0]
else
  FAILED.size.times { puts "BROKEN #{FAILED.pop}" }
  puts "replay: #{replay}"
  $stdout.flush
  exit!(1)
end
