class MyError < StandardError
  def initialize(msg = "default my error") = super
end
def try
  yield
rescue MyError, ArgumentError => e
  "rescued #{e.class}: #{e.message}"
else
  "no error"
ensure
  puts "ensure ran"
end
p try { raise MyError }, try { raise ArgumentError, "bad" }, try { 1 }, (try { raise "x" } rescue "outer #{$!.message}")
begin
  begin
    raise "inner"
  rescue => e
    raise TypeError, "outer"
  end
rescue => e
  p e.message, e.cause.message, e.cause.class
end
n = 0
begin
  n += 1
  raise "again" if n < 3
  p n
rescue
  retry
end
p (raise "x" rescue "inline")
def ens
  return 1
ensure
  puts "in ensure"
end
p ens
def ens2
  [1, 2].each do |x|
    begin
      next if x == 1
      return x
    ensure
      puts "e#{x}"
    end
  end
end
p ens2
x = catch(:done) do
  10.times { |i| throw :done, i if i == 3 }
  :never
end
p x, (throw :nope rescue $!.message), catch { |t| throw t, 5 }
begin
  raise Class.new(StandardError) { def message = "anon msg" }
rescue => e
  p e.message
end
e = RuntimeError.new("boom")
p e.message, e.inspect, e.full_message(highlight: false).lines.first, e.backtrace, (raise e rescue $!.equal?(e)), e.backtrace.class
p [ZeroDivisionError, KeyError, StopIteration, FrozenError, FloatDomainError].map(&:superclass)
begin
  [1, 2].fetch(10)
rescue IndexError => e
  puts e.message
end
begin
  Integer("abc")
rescue ArgumentError => e
  puts e.message
end
begin
  "a".freeze << "b"
rescue => e
  puts e.class, e.message
end
begin
  nil.foo
rescue NoMethodError => e
  puts e.message
end
begin
  raise "a", cause: nil
rescue => e
  p e.cause
end
def deep(n) = n.zero? ? raise(MyError, "deep") : deep(n - 1)
begin
  deep(3)
rescue => e
  p e.backtrace.size >= 4, e.backtrace_locations.first.lineno.class
end
begin
  def so = so()
  so
rescue SystemStackError => e
  p e.class, e.message
end
begin
  exit(3)
rescue SystemExit => e
  p e.status, e.success?
end
p (begin; Float("x"); rescue TypeError; 1; rescue ArgumentError; 2; end)
warn "to stderr"
at_exit { puts "at_exit 1" }
at_exit { puts "at_exit 2" }
begin
  raise Exception, "plain"
rescue StandardError
  p :no
rescue Exception => e
  p e.message
end
p $!, (begin; raise "q"; rescue; $!.message; end)
