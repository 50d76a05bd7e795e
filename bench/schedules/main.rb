# The command behind bench/schedules/run. See bench/schedules/README.md.
require_relative "../lib/command"
%w[recordings stack together].each { |name| require_relative "lib/#{name}" }
%w[predict cores figure ratio thresholds seeds service extrapolate].each { |name| require_relative "experiments/#{name}" }

method = "Programs are run and recorded; all that is said of schedules is simulated. Rounds of real runs: %<reps>d, interleaved."
Bench::Command.new("bench/schedules/run", "When nodes collect", method, programs: File.join(__dir__, "programs"), peers: [],
                                                                        values: { "nodes" => :Integer, "sizes" => nil, "keep" => nil }, flags: ["urgent"]).run(ARGV)
