# What making an object costs when nobody keeps it: nanoseconds each, the loop's own cost taken off, for several kinds.
# Prints a line `NANOSECONDS KIND` for each.
# usage: alloc.rb [N=1000000] [THREADS=1] [KIND]
class Plain; end

class Point
  def initialize(x, y)
    @x = x
    @y = y
  end
end

class Wide
  def initialize(a)
    @a = a
    @b = a
    @c = a
    @d = a
    @e = a
    @f = a
  end
end

Pair = Struct.new(:left, :right)
WORD = "a word of some length".freeze
LIST = [1, 2, 3, 4].freeze

def now; Process.clock_gettime(Process::CLOCK_MONOTONIC); end

KINDS = {
  "loop" => ->(n) { i = 0; while i < n; i += 1; end },
  "Object.new" => ->(n) { i = 0; while i < n; made = Plain.new; i += 1; end },
  "object, 2 ivars" => ->(n) { i = 0; while i < n; made = Point.new(i, i); i += 1; end },
  "object, 6 ivars" => ->(n) { i = 0; while i < n; made = Wide.new(i); i += 1; end },
  "Struct, 2 members" => ->(n) { i = 0; while i < n; made = Pair.new(i, i); i += 1; end },
  "[a, b]" => ->(n) { i = 0; while i < n; made = [i, i]; i += 1; end },
  "[] << a << b" => ->(n) { i = 0; while i < n; made = [] << i << i; i += 1; end },
  "array of 100" => ->(n) { i = 0; while i < n; made = Array.new(100, i); i += 1; end },
  "Array#map of 4" => ->(n) { i = 0; while i < n; made = LIST.map { |x| x }; i += 1; end },
  "string literal" => ->(n) { i = 0; while i < n; made = "short"; i += 1; end },
  "string, interpolated" => ->(n) { i = 0; while i < n; made = "no. #{i}"; i += 1; end },
  "String#+ of 21 bytes" => ->(n) { i = 0; while i < n; made = WORD + WORD; i += 1; end },
  "{ a: b }" => ->(n) { i = 0; while i < n; made = { a: i }; i += 1; end },
  "range" => ->(n) { i = 0; while i < n; made = (i..n); i += 1; end },
  "lambda" => ->(n) { i = 0; while i < n; made = -> { i }; i += 1; end },
  "Float beyond the immediate ones" => ->(n) { i = 0; x = 1e-200; while i < n; made = x * 3.0; i += 1; end },
  "Integer beyond the immediate ones" => ->(n) { i = 0; x = 1 << 70; while i < n; made = x + i; i += 1; end },
  "linked list cell that is kept" => ->(n) { i = 0; list = nil; while i < n; list = Pair.new(i, i % 1000 == 0 ? nil : list); i += 1; end }
}.freeze

count = Integer(ARGV[0] || 1_000_000)
threads = Integer(ARGV[1] || 1)
wanted = ARGV[2]

# Seconds for all threads to do it `count` times each.
def time(body, count, threads)
  from = now
  Array.new(threads) { Thread.new { body.call(count) } }.each(&:join)
  now - from
end

base = nil
KINDS.each do |name, body|
  time(body, count / 10, threads)
  taken = Array.new(3) { time(body, count, threads) }.min
  base ||= taken
  next if wanted && name != wanted
  puts "#{((name == "loop" ? taken : taken - base) / count * 1e9).round(2)} #{name}"
end
