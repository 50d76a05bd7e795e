# Public methods of large receivers, with large arguments: whatever they take that is large, they ask for first. The process tells with
# KUMI_UNASKED=BYTES, in test builds, of each piece that nobody asked for.
#
# usage: KUMI_UNASKED=250000 kumi tests/fuzz/unasked.rb SEED SECONDS [RECEIVER.METHOD]
# Standard error gets a line for each call, from SEED on in an order by chance.
require "timeout"
require "set"
require "stringio"

N = 40_000
TEXT = "abcd efg,\n" * 36_000
WIDE = "ab\u00e9 c,1\n" * 36_000
BYTES = ("\xff\x00ab" * 90_000).b
INTS = Array.new(N) { |i| i }
NAMES = Array.new(N) { |i| "s#{i % 1000}" }
PAIRS = Array.new(N / 2) { |i| [i, i + 1] }
TABLE = INTS.to_h { |i| [i, i] }
Pair = Struct.new(:a, :b)

RECEIVERS = {
  "TEXT" => -> { TEXT.dup }, "WIDE" => -> { WIDE.dup }, "BYTES" => -> { BYTES.dup }, "INTS" => -> { INTS.dup }, "NAMES" => -> { NAMES.dup },
  "PAIRS" => -> { PAIRS.dup }, "TABLE" => -> { TABLE.dup }, "SET" => -> { Set.new(INTS) }, "RANGE" => -> { 1..N },
  "STRUCT" => -> { Pair.new(INTS, TEXT) }, "IO" => -> { StringIO.new(TEXT.dup) }
}.freeze
ARGUMENTS = [[], [TEXT], [INTS], [1], [/./], %w[a bb], [TABLE], [0, TEXT], [0..-2], ["UTF-16LE"], [:to_s]].freeze
BLOCKS = [nil, ->(*x) { x[0] }, ->(*) { true }, ->(*) {}, ->(*x) { [x[0], x[0]] }].freeze
# They take far longer than they may here, end the program, or are no methods of the receiver's.
LEFT = %i[cycle permutation repeated_permutation repeated_combination combination product upto downto step crypt instance_eval instance_exec
          display freeze close close_read close_write reopen replace extend define_singleton_method singleton_method send public_send __send__
          then tap yield_self instance_variable_set remove_instance_variable readlines gets readline].freeze

seed, seconds, only = Integer(ARGV[0]), Float(ARGV[1]), ARGV[2]
own = Object.public_instance_methods - %i[to_s inspect dup clone hash == eql? <=> =~ ===]
calls = RECEIVERS.flat_map { |name, make| (make.call.public_methods - LEFT - own).sort.map { |m| [name, m] } }
calls = only ? calls.select { |name, m| "#{name}.#{m}" == only } : calls.shuffle(random: Random.new(seed))
abort "unasked.rb: no call #{only}" if calls.empty?
stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
over = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) > stop }
made = 0
calls.each do |name, m|
  break if over.()
  $stderr.puts "call: #{name}.#{m}"
  ARGUMENTS.each_with_index do |arguments, i|
    BLOCKS.each do |block|
      next if block && i > 4 || over.()
      receiver = RECEIVERS[name].call
      made += 1
      Timeout.timeout(2) do
        result = block ? receiver.public_send(m, *arguments) { |*x| block.(*x) } : receiver.public_send(m, *arguments)
        result.first(2) if result.is_a?(Enumerator)
      end
    rescue StandardError, Timeout::Error, NotImplementedError, UncaughtThrowError
      # What they answer is others' affair.
    end
  end
end
puts "unasked: #{made > 0 ? "calls were made" : "no call was made"}"
