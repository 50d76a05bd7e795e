# Makes and drops everything that costs a process something, for as long as it is told, and asks at the end whether memory,
# descriptors and native threads levelled off.
#
#   kumi soak.rb SEED [SECONDS]
#
# What is made is chosen by SEED. Once a second or so the process is measured after a full collection; memory, descriptors and threads of the
# last third may not lie above those of the second third. The first third is left for tables, caches and the heap to reach their size.
# KUMI_FUZZ_TRACE=1 prints each measurement. Linux only: it reads /proc.

$VERBOSE = nil
require "json"
require "set"
require "socket"
require "stringio"
require "tempfile"
require "tmpdir"
require "timeout"
require "yaml"
require "monitor"

SEED = Integer(ARGV[0] || 1)
SECONDS = Float(ARGV[1] || 60)
THREADS = 3
FOLDER = Dir.mktmpdir("kumi-soak")
SERVER = TCPServer.new("127.0.0.1", 0)
PORT = SERVER.addr[1]

class Redefined; end

# Answers each connection with what it was sent, and forgets it: half of the connections are closed by the collector only.
ECHO = Thread.new do
  Thread.current.report_on_exception = false
  loop do
    c = SERVER.accept
    Thread.new do
      line = c.gets
      c.write(line) if line
      c.close if line.to_s.size.even?
    rescue SystemCallError, IOError
      nil
    end
  end
end

# What is made and dropped, by name: each gets a number that no other call had, and a generator of random numbers.
MAKERS = {
  class: ->(n, _) { Class.new { define_method(:a) { n }; def b = 2; attr_accessor "at#{n}" }.new.then { |o| [o.a, o.b, o.send("at#{n}=", 1)] } },
  module: ->(n, _) { m = Module.new { const_set("C#{n}", n); def z = 1 }; Object.new.extend(m).z },
  struct: ->(n, _) { Struct.new(:"s#{n}", :b).new(n, 2).to_h },
  data: ->(n, _) { Data.define(:"d#{n}", :b).new(n, 2).to_h if defined?(Data) },
  singleton: ->(n, _) { o = Object.new; o.define_singleton_method("m#{n}") { n }; def o.foo = 1; o.foo + o.send("m#{n}") },
  refinement: ->(_, _) { Module.new { refine(String) { def q = 1 } } },
  redefinition: ->(n, _) { Redefined.class_eval("def foo = #{n}"); Redefined.new.foo },
  eval: ->(n, _) { eval("x#{n} = [:y#{n}, 'lit', 1.5, /r#{n}/]; ->(a#{n}) { [a#{n}, x#{n}] }").call(1) },
  eval_class: ->(n, _) { Module.new.module_eval("class Foo#{n}; def a = self.class; end; Foo#{n}.new.a") },
  syntax_error: ->(n, _) { begin; eval("1 + #{n} +"); rescue SyntaxError; 1; end },
  symbol: ->(n, _) { ["s#{n}".to_sym, {"k#{n}": 1}, 1.respond_to?("r#{n}")] },
  json: ->(n, _) { JSON.parse(JSON.generate({"j#{n}" => [n, {"k#{n}" => nil}]}), symbolize_names: true) },
  yaml: ->(n, _) { YAML.load({"y#{n}" => [n, "a: b"]}.to_yaml) },
  marshal: ->(n, _) { Marshal.load(Marshal.dump([n, "s#{n}", :"m#{n}", {n => 1.5}])) },
  regexp: ->(n, _) { Regexp.new("a(?<n#{n}>b+)").match("xabbb")&.named_captures },
  string: ->(n, r) { s = +""; r.rand(2000).times { s << "ab#{n}" }; s.gsub("b", "ccc").encode("UTF-16LE").bytesize },
  array: ->(n, r) { a = Array.new(r.rand(3000)) { _1 }; a.concat(a.reverse).sort!.uniq.each_slice(7).to_a.size + n },
  hash: ->(n, r) { h = {}; r.rand(2000).times { |i| h["k#{i}#{n}"] = i }; h.delete_if { |_, v| v.odd? }; h.compare_by_identity if h.empty?; h.size },
  bignum: ->(n, r) { (n + (1 << r.rand(20_000))).to_s.to_i.to_s.size },
  exception: ->(n, _) { begin; raise ArgumentError, "e#{n}"; rescue => e; [e.full_message, e.backtrace_locations&.size]; end },
  deep: ->(n, _) { d = ->(k) { k.zero? ? raise("deep") : d.(k - 1) }; begin; d.(200 + n % 100); rescue => e; e.backtrace.size; end },
  overflow: ->(n, _) { (def self.over = over + 1; begin; over; rescue SystemStackError; 1; end) if (n % 499).zero? },
  catch: ->(n, _) { catch("c#{n}".to_sym) { |t| throw t, n } },
  thread: ->(n, _) { Thread.new { Thread.current["tl#{n}"] = 1; n }.value },
  thread_dropped: ->(n, _) { q = Queue.new; Thread.new { q.pop }; q << n },
  thread_killed: ->(_, _) { t = Thread.new { sleep }; Thread.pass; t.kill; t.join },
  thread_failed: ->(n, _) { Thread.new { Thread.current.report_on_exception = false; raise "x#{n}" }.join rescue 1 },
  fiber: ->(n, _) { f = Fiber.new { Fiber.yield n; 2 }; f.resume },
  enumerator: ->(n, _) { e = Enumerator.new { |y| loop { y << n } }; [e.next, e.peek, e.lazy.map { _1 + 1 }.first(2)] },
  timeout: ->(_, _) { begin; Timeout.timeout(0.001) { sleep 1 }; rescue Timeout::Error; 1; end },
  mutex: ->(n, _) { m = Monitor.new; m.synchronize { m.new_cond; Mutex.new.synchronize { n } } },
  ractor: ->(n, _) { Ractor.new(n) { |x| x + 1 }.then { |r| r.respond_to?(:value) ? r.value : r.take } if (n % 7).zero? },
  weak: ->(n, _) { w = ObjectSpace::WeakMap.new; w["w#{n}".dup] = Object.new; w.size },
  finalizer: ->(n, _) { ObjectSpace.define_finalizer(Object.new, proc { n }) },
  id: ->(_, _) { Object.new.object_id },
  trap: ->(n, _) { Signal.trap("USR2") { n } if (n % 101).zero? },
  file: ->(n, _) { f = "#{FOLDER}/f#{n}"; File.write(f, "x" * 100); File.open(f) { |io| io.read }; File.unlink(f) },
  file_dropped: ->(_, _) { File.open("/dev/null").fileno },
  directory: ->(n, _) { d = "#{FOLDER}/d#{n}"; Dir.mkdir(d); Dir.children(d); Dir.open(d); Dir.rmdir(d) },
  tempfile: ->(n, _) { t = Tempfile.new("kumi"); t.write(n); n.even? ? t.close! : t.unlink },
  pipe: ->(n, _) { r, w = IO.pipe; w << n; w.close if n.even?; r.getc },
  socket: ->(n, _) { c = TCPSocket.new("127.0.0.1", PORT); c.puts("n#{n}"); c.gets; c.close if n.odd? },
  socketpair: ->(n, _) { a, b = UNIXSocket.pair; a.write(n); b.readpartial(10) },
  stringio: ->(n, _) { StringIO.new("a\nb#{n}\n").each_line.to_a },
  process: ->(n, _) { IO.popen(["true"], &:read) if (n % 97).zero? },
  fork: ->(n, _) { Process.wait(fork { exit!(0) }) if (n % 97).zero? }
}.freeze

Measured = Struct.new(:memory, :descriptors, :threads)

def measure
  GC.start
  status = File.read("/proc/self/status")
  Measured.new(status[/^VmRSS:\s+(\d+)/, 1].to_i, Dir.children("/proc/self/fd").size, status[/^Threads:\s+(\d+)/, 1].to_i)
end

stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS
done = Hash.new(0)
count = Monitor.new
number = 0
workers = Array.new(THREADS) do |i|
  Thread.new do
    r = Random.new(SEED * 1000 + i)
    while Process.clock_gettime(Process::CLOCK_MONOTONIC) < stop
      name, make = MAKERS.to_a.sample(random: r)
      n = count.synchronize { done[name] += 1; number += 1 }
      make.(n, r)
    end
  end
end

seen = []
start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
until workers.none?(&:alive?)
  sleep([SECONDS / 120.0, 0.2].max)
  seen << measure
  if ENV["KUMI_FUZZ_TRACE"]
    m = seen.last
    puts format("%6.0f s %8d made %9d KB %5d descriptors %3d threads", Process.clock_gettime(Process::CLOCK_MONOTONIC) - start, number, m.memory,
                m.descriptors, m.threads)
    $stdout.flush
  end
end
workers.each(&:join)

def median(list) = list.sort[list.size / 2]
third = seen.size / 3
middle, last = seen[third, third], seen[-third, third]
failed = []
Measured.members.each do |what|
  before, after = median(middle.map(&what)), median(last.map(&what))
  # Memory may differ by what the allocator holds back at the moment; an hour's leak of a byte for each thing made is more.
  room = what == :memory ? before / 20 + 2048 : before / 10 + 8
  failed << "#{what}: #{before} in the second third, #{after} in the last" if after > before + room
end
missing = MAKERS.keys - done.keys
failed << "never made: #{missing.join(", ")}" if missing.any? && number > 50 * MAKERS.size
File.directory?(FOLDER) && (Dir.each_child(FOLDER) { |f| p f; File.directory?("#{FOLDER}/#{f}") || File.unlink("#{FOLDER}/#{f}") }; Dir.rmdir(FOLDER))
abort "soak: seed #{SEED}, #{number} made\n#{failed.join("\n")}" if failed.any?
puts "soak: seed #{SEED}: all levels off"
