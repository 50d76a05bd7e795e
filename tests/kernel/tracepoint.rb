# Events of every kind, as CRuby gives them: where, of which method, with what value.

$log = []
def note(tp)
  v =
    case tp.event
    when :return, :b_return, :c_return then tp.return_value.inspect.sub(/0x\h+/, "0x")
    when :raise, :rescue then tp.raised_exception.inspect
    end
  $log << [tp.event, tp.lineno, tp.method_id, tp.callee_id, tp.defined_class.inspect, v]
end
def traced(*events)
  $log = []
  TracePoint.new(*events) { |tp| note(tp) }.enable { yield }
  # The first and last are the block's own.
  $log.each { |e| puts e.compact.join(" ") }
  puts "--"
end

class A
  attr_accessor :z
  define_method(:dm) { |x = 1| x + 1 }
  def opt(a, b = a + 1,
          c: b)
    yield a
  end
  def self.s; end
  def early(x)
    return 5 if x
    6
  end
  def brk
    [1, 2].each { |x| break x }
  end
  def ret
    [1, 2].each { |x| return x }
  end
  def ex
    raise "a"
  end
  def kept
    yield
  ensure
    @z = 1
  end
  alias other early
end
a = A.new

calls = [:call, :return, :b_call, :b_return]
traced(*calls) { a.dm }
traced(*calls) { a.opt(1) { |q| q } }
traced(*calls) { A.s }
traced(*calls) { a.other(true); a.early(false) }
traced(*calls) { a.brk }
traced(*calls) { a.ret }
traced(*calls, :raise) do
  begin
    a.kept { a.ex }
  rescue ArgumentError, RuntimeError
    2
  end
end
traced(:c_call, :c_return) { a.z = 3; a.z }
traced(:c_call, :c_return) { a.public_send(:early, 1) }
traced(:c_call, :c_return) { A.new && nil }
traced(:c_call, :c_return) { "1" + "2"; [1, 2] << 3; 1.times { } }
traced(:class, :end) do
  class B
    X = 1
    class << self
    end
  end
end
traced(:line) do
  i = 0
  while i < 2
    i += 1
  end
  if a
    i += 1
  else
    i = 0
  end
  i; i
end
traced(:call, :return, :c_call, :c_return) { catch(:q) { throw :q, 1 } }

# What its block may ask, and may not.
tp = TracePoint.new(:call) { |t| $seen = [t.parameters, t.self.class, t.inspect.sub(t.path, "FILE").tr("`", "'"), t.binding.local_variables] }
tp.enable { a.opt(1) { } }
p $seen
[:lineno, :path, :event, :self].each do |m|
  tp.public_send(m)
rescue RuntimeError => e
  puts "#{m}: #{e.message}"
end
TracePoint.new(:call) { |t| t.return_value rescue p $! }.enable { A.s }
TracePoint.new(:return) { |t| $b = t.binding }.enable { a.early(false) }
p $b.local_variables, $b.local_variable_get(:x), $b.receiver == a
TracePoint.new(:script_compiled) { |t| p t.eval_script }.enable { eval("1 + 1") }

# Blocks that end things.
tp = TracePoint.new(:line) { |t| tp.disable; puts "once" }
tp.enable
x = 1
x = 2
p tp.enabled?
tp = TracePoint.new(:call) { raise "from the block" }
tp.enable do
  a.early(1)
rescue => e
  p e.message, e.backtrace_locations.any? { |l| l.label =~ /early/ }
end
p(catch(:out) { TracePoint.new(:call) { throw :out, :thrown }.enable { a.early(1) } })
p TracePoint.new(:line) { }.enable { break :broken }

# Unwinding tells of each frame once, also when a block raises meanwhile.
def deep(n, &b) = n == 0 ? b.call : deep(n - 1, &b)
n = 0
TracePoint.new(:return) { n += 1 }.enable { catch(:t) { deep(5) { throw :t } } }
p n
n = 0
TracePoint.new(:return) { |t| (n += 1) == 3 and raise "third" }.enable { deep(5) { raise "inner" } } rescue p $!.message
p n

# Targets.
$log = []
tp = TracePoint.new(:line, :call, :b_call) { |t| $log << [t.event, t.lineno] }
tp.enable(target: A.instance_method(:opt)) { a.opt(1) { 2 }; a.early(1) }
p $log
l = -> {
  1.abs
  2.abs
}
$log = []
tp.enable(target: l, target_line: l.source_location[1] + 2) { l.call; l.() }
p $log
[-> { tp.enable(target: 1) { } }, -> { tp.enable(target_line: 3) { } },
 -> { TracePoint.new(:class) { }.enable(target: l) { } }, -> { tp.enable { tp.enable(target: l) { } } }].each do |f|
  f.call
rescue ArgumentError => e
  puts e.message
end

# Fibers and re-entry.
$log = []
TracePoint.new(:fiber_switch) { $log << :switch }.enable do
  f = Fiber.new { Fiber.yield 1; 2 }
  f.resume
  f.resume
end
p $log
$log = []
TracePoint.new(:line) do |t|
  $log << t.lineno
  next if $log.size > 3
  TracePoint.allow_reentry { $log << :in; $log << :side }
end.enable { a.itself }
p $log.tally.values_at(:in, :side)
begin
  TracePoint.allow_reentry { }
rescue RuntimeError => e
  puts e.class
end

# The old way.
$log = []
set_trace_func(proc { |event, file, line, id, binding, klass| $log << [event, id, klass] if id == :early })
a.early(1)
set_trace_func(nil)
p $log
