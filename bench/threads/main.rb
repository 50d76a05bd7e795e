# The command behind bench/threads/run. See bench/threads/README.md.
require_relative "../lib/command"
require_relative "lib/paper"
%w[memory stacks speed switching parallel idle server].each { |f| require_relative "experiments/#{f}" }

method = "Each figure is the best of %<reps>d interleaved rounds, as in the paper, unless its section says otherwise (shrinking, fairness, idle: medians)."
Bench::Command.new("bench/threads/run", "Threads, fibers and stacks", method, programs: File.join(__dir__, "programs"),
                   peers: %w[Go BEAM JRuby cc], binaries: %w[fixed], flags: %w[callgrind]).run(ARGV)
