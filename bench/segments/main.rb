# The command behind bench/segments/run. See bench/segments/README.md.
require_relative "../lib/command"
%w[cluster paper].each { |f| require_relative "lib/#{f}" }
%w[local code handover bitonic remote redis throughput collecting store page hostile].each { |f| require_relative "experiments/#{f}" }

method = "Figures are medians of %<reps>d interleaved rounds, and those of one process alone the best, unless a section says otherwise. Times are taken inside the programs, after they have loaded."
Bench::Command.new("bench/segments/run", "Data segments and code segments", method, programs: File.join(__dir__, "programs"),
                   peers: %w[Go BEAM JRuby cc Redis], values: { "minutes" => :Float }).run(ARGV)
