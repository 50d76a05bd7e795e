# The command behind bench/remote/run. See bench/remote/README.md.
require_relative "../lib/command"
require_relative "../segments/lib/cluster"
%w[calls references tables].each { |name| require_relative "experiments/#{name}" }

method = "Figures are medians of %<reps>d interleaved rounds. Times are taken inside the programs, after they have loaded."
Bench::Command.new("bench/remote/run", "Calls of other nodes' objects", method, programs: File.join(__dir__, "programs"), peers: %w[BEAM]).run(ARGV)
