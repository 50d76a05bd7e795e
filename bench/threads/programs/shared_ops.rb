# What one operation on a core object that all threads share costs: THREADS threads do N of them each; prints nanoseconds
# per operation of one thread, the loop included ("loop" does nothing else).
# usage: shared_ops.rb OPERATION THREADS N
def now; Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond); end
operation = ARGV[0] || "loop"
threads = Integer(ARGV[1] || 1)
n = Integer(ARGV[2] || 100_000)

class Holder
  attr_accessor :value
  def initialize; @value = 0; end
end
A = Array.new(1024, 1)
H = Array.new(1024) { |i| [i, 1] }.to_h
S = +"text"
O = Holder.new
$g = 0
WORK = {
  "loop" => ->(k) { i = 0; i += 1 while i < k },
  "Array#[]" => ->(k) { i = 0; (A[i & 1023]; i += 1) while i < k },
  "Array#[]=" => ->(k) { i = 0; (A[i & 1023] = i; i += 1) while i < k },
  "Array#push, pop" => ->(k) { i = 0; (A.push(i); A.pop; i += 1) while i < k },
  "Hash#[]" => ->(k) { i = 0; (H[i & 1023]; i += 1) while i < k },
  "Hash#[]=" => ->(k) { i = 0; (H[i & 1023] = i; i += 1) while i < k },
  "String#size" => ->(k) { i = 0; (S.size; i += 1) while i < k },
  "read ivar" => ->(k) { i = 0; (O.value; i += 1) while i < k },
  "write ivar" => ->(k) { i = 0; (O.value = i; i += 1) while i < k },
  "write global" => ->(k) { i = 0; ($g = i; i += 1) while i < k },
  "Object.new" => ->(k) { i = 0; (Object.new; i += 1) while i < k }
}.freeze
work = WORK.fetch(operation) { abort "operations: #{WORK.keys.join(", ")}" }
go = false
team = Array.new(threads) do
  Thread.new do
    work.call(n / 10)
    Thread.pass until go
    work.call(n)
  end
end
sleep 0.02
from = now
go = true
team.each(&:join)
puts (now - from) / n.to_f
