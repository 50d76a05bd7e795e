# The command behind bench/xml/run. See bench/xml/README.md.
require_relative "../lib/command"
%w[tools wires peers paper].each { |f| require_relative "lib/#{f}" }
%w[rates uneven memory producer parsers].each { |f| require_relative "experiments/#{f}" }

method = "Medians of %<reps>d interleaved rounds unless a section says otherwise; ratios in pairs of one round, with 95 %% bootstrap intervals. Times are taken inside the programs, after they have loaded."
begin
  Bench::Command.new("bench/xml/run", "Demand-driven XML", method, programs: File.join(__dir__, "programs"), peers: [], values: { "data" => nil }).run(ARGV)
ensure
  Bench::XML.close
end
