# The command behind bench/heap/run. See bench/heap/README.md.
require_relative "../lib/command"
%w[heap paper].each { |f| require_relative "lib/#{f}" }
%w[fates warehouses collections overhead rules set peers pauses interruptible].each { |f| require_relative "experiments/#{f}" }

method = "Figures are medians of %<reps>d interleaved rounds unless their section says otherwise. `off` is the same build with KUMI_TLH=off: per-worker buffers, the same generations, the same limit."
Bench::Command.new("bench/heap/run", "A heap that collects in private", method, programs: File.join(__dir__, "programs"),
                   peers: %w[Go JRuby], binaries: %w[twice], values: { "budget" => :Integer, "rounds" => :Integer }, flags: %w[callgrind]).run(ARGV)
