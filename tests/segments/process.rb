# Forks, the end of the program, Ractors, traces.
require "kumihimo/segments"
require "rbconfig"
DS = Kumihimo::Segments.local
S = Kumihimo::Segments
CodeSegment = Kumihimo::CodeSegment

def tell(label)
  value = yield
  puts "#{label}: #{value.inspect.gsub(/0x\h+/, "0x")}"
rescue Exception => e
  puts "#{label}: #{e.class}: #{e.message.gsub(/0x\h+/, "0x")}"
end
# What a child of this process gives.
def in_child
  read, write = IO.pipe
  pid = fork do
    read.close
    value = begin
      yield
    rescue Exception => e
      "#{e.class}: #{e.message}"
    end
    write.write(Marshal.dump(value))
    write.close
    exit!(0)
  end
  write.close
  Marshal.load(read.read)
ensure
  Process.wait(pid)
end
# What a program prints, and its status.
def program(text)
  read, write = IO.pipe
  pid = spawn(RbConfig.ruby, "-W0", "-e", "require 'kumihimo/segments'; DS = Kumihimo::Segments.local; S = Kumihimo::Segments\n#{text}", out: write, err: write, in: File::NULL)
  write.close
  out = read.read
  Process.wait(pid)
  [out, $?.exitstatus]
end
$stdout.sync = true

puts "-- fork"
class Echo < CodeSegment
  input :x, take: "in"
  def run = put("out", [x, Process.pid == PARENT])
end
PARENT = Process.pid
DS.put("q", [1, "a"])
DS.put("q", [2], move: true)
waits = Echo.start
taker = Thread.new { DS.take("taken") }
watcher = Thread.new { DS.watch("q").next }
Thread.pass until DS.stat("taken")[:waiting] == 1 && watcher.stop?
tell("the child has a copy of the queues") { in_child { [DS.keys, DS.size("q"), DS.take("q"), DS.take("q"), DS.put("q", 5)] } }
tell("the parent has its own") { [DS.size("q"), DS.stat("q")[:last_index]] }
tell("the child has none of the code segments") { in_child { [waits.ended?, S.stat.slice(:waiting, :ready, :running, :requests, :leases)] } }
tell("nor of those that wait") { in_child { DS.put("taken", :child); [DS.stat("taken")[:waiting], DS.take?("taken")] } }
tell("the child has its own") { in_child { DS.put("in", 1); [DS.size("in"), Echo.start.join && DS.take("out")] } }
tell("and its own threads") { in_child { Thread.new { DS.put("t", 1) }; [DS.take("t"), S.settle && 1] } }
DS.put("in", 2)
tell("the parent's go on") { DS.take("out") }
DS.put("taken", :parent)
tell("and its takers") { taker.value }
watcher.kill
class Holds < CodeSegment
  input :x, take: "held"
  def run
    x << :changed
    DS.put("holds", 1)
    DS.take("go")
    put("held.done", x)
  end
end
DS.put("held", [1], move: true)
holds = Holds.start
DS.take("holds")
tell("what a run holds comes back in the child") { in_child { s = DS.take_segment("held", timeout: 5); [s.value.first, s.changed?, s.owned?, S.stat[:leases]] } }
tell("a join of it ends") { in_child { holds.join(timeout: 5).ended? } }
DS.put("go", 1)
tell("in the parent it goes on") { holds.join && DS.take("held.done") }
DS.put("later", :due, not_before: 0.3)
DS.put("ends", 1, ttl: 0.2)
tell("what is due comes in the child too") { in_child { [DS.take("later", timeout: 5), DS.stat("ends")[:segments]] } }
tell("without a time-out") { DS.put("later", :due, not_before: 0.3); in_child { DS.take("later") } }
DS.take("later")
DS.take("later")
tell("a fork in a run") do
  Class.new(CodeSegment) do
    def run
      put("forked", Process.wait2(fork { exit!(3) })[1].exitstatus)
    end
  end.start.join && DS.take("forked")
end
tell("a run that goes on in a child ends it") do
  Class.new(CodeSegment) do
    def run
      pid = fork
      $stderr = File.open(File::NULL, "w") unless pid
      put("forked", pid ? :parent : :child)
      put("status", Process.wait2(pid)[1].exitstatus) if pid
    end
  end.start.join && [DS.take("forked"), DS.take("status"), DS.size("forked")]
end
DS.take("q") && DS.take("q")

puts "-- the end of the program"
tell("code segments that wait do not keep it") { program("S.when(take: 'never') { puts 1 }; puts 2") }
tell("nor those that run") { program("S.when { sleep }; puts 2") }
tell("settle waits for them") { program("S.when { sleep 0.05; puts 1 }; S.settle; puts 2") }
tell("at_exit") { program("at_exit { S.settle; p DS.take('x') }; S.when { put('x', 1) }") }
tell("started in at_exit") { program("at_exit { S.when { put('x', 1) }; p DS.take('x') }") }
tell("exit in a run ends it") { program("at_exit { puts 'bye' }; S.when { puts 1; exit 3 }; sleep") }
tell("abort in a run") { program("S.when { abort 'enough' }; sleep") }
tell("exit! in a run") { program("S.when { exit! 4 }; sleep") }
tell("the listing's exit") { program("class T < Kumihimo::CodeSegment; input :x, peek: 'k'; def run = exit(0); end; DS.update('k', 1); T.start; sleep") }
tell("Interrupt for the main thread") { program("begin; S.when { Process.kill(:INT, $$) }; sleep; rescue Interrupt; puts 'int'; end") }
tell("a take that nobody answers is a deadlock") { program("DS.take('never')").then { |out, status| [out[/No live threads left. Deadlock\?/], status] } }
tell("also with idle runners") { program("S.when { 1 }.join; DS.take('never')").then { |out, status| [out[/No live threads left. Deadlock\?/], status] } }
tell("also with code segments that wait") { program("S.when(take: 'b') { put('a', 1) }; DS.take('a')").then { |out, status| [out[/No live threads left. Deadlock\?/], status] } }
tell("a join of one that nobody completes") { program("S.when(take: 'b') { 1 }.join").then { |out, status| [out[/No live threads left. Deadlock\?/], status] } }
tell("what is to come later is none") { program("DS.put('a', 1, not_before: 0.05); p DS.take('a')") }
tell("a run's error is reported") { program("S.when { raise 'oh' }; S.settle").then { |out, status| [out.lines[0], out[/oh \(RuntimeError\)/], status] } }
tell("abort_on_exception is of threads") { program("Thread.abort_on_exception = true; (S.when { raise 'oh' }.join rescue p $!.message)").then { |out, status| [out.lines.last, status] } }
tell("without the library") { [`#{RbConfig.ruby} -W0 -e 'p defined?(Kumihimo::Segments)'`, $?.exitstatus] }

puts "-- Ractors"
tell("a Ractor and a key") do
  key = DS.key("r")
  r = Ractor.new(key) { |k| k.put([1, "two"]); k.take(after: 0).frozen? }
  r.value
end
tell("a Ractor's segment for the others") do
  Ractor.new(DS.key("r")) { |k| k.put({ a: "b" }) }.value
  DS.take("r")
end
tell("a Ractor and the manager") { Ractor.new { Kumihimo::Segments.local.put("r", 2); Kumihimo::Segments.local.take("r") }.value rescue $!.cause || $! }
tell("a code segment in a Ractor") { Ractor.new { Kumihimo::Segments.when { put("r", 3) }.join; 1 }.value rescue $!.cause || $! }
tell("what came") { DS.take?("r") }

puts "-- traces"
calls = []
trace = TracePoint.new(:call) { |t| calls << t.method_id if t.path == __FILE__ }
class Traced < CodeSegment
  input :x, take: "x"
  def run = put("y", x)
end
DS.put("x", 1)
trace.enable { Traced.start.join }
tell("a trace of this thread sees no other") { calls }
trace.enable
DS.put("x", 2)
DS.put("z", 3)
tell("values") { [DS.take("z"), Traced.start.join && DS.take("y")] }
trace.disable
tell("a trace of all sees the run") { calls.include?(:run) }
events = 0
set_trace_func(proc { |*| events += 1 })
DS.put("x", 2)
s = Traced.start.join
set_trace_func(nil)
tell("set_trace_func") { [events > 0, DS.take("y"), DS.take("y")] }
