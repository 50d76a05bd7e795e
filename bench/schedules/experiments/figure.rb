# The paper's figure 2, of its programs in Ruby.
module Bench
  experiment "figure", "where the time of the paper's four programs goes under each strategy, on the paper's machine" do |suite, report|
    most = suite.options[:nodes] || (suite.quick ? 4 : 16)
    sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256].select { |n| n <= most }
    report.section("Figure 2, simulated", <<~TEXT)
      Each program is recorded on as many nodes as are shown, all of them processes of this machine, and replayed on the paper's machine: #{AP1000.join(" ")}. Times
      of all nodes together, as shares of FS's: active, idle, collection, overhead. Time: that of the strategy by FS's.
    TEXT
    recordings = Recordings.new(suite)
    report.data["figure"] = {}
    PAPER.each do |program|
      rows, groups = [], []
      sizes.each do |nodes|
        outcomes = recordings.replay(recordings.of(program, nodes), *AP1000)
        whole = outcomes["synchronised"]["end"].to_f * nodes
        bars = POLICIES.map do |short, policy|
          all = outcomes[policy]["all"]
          parts = [all["active"] + all["speculative"], all["idle"], all["collection"], all["overhead"]].map { |ns| ns / whole }
          rows << ["#{nodes} #{short}", format("%.3f", parts.sum), *parts.map { |x| format("%.3f", x) },
                   format("%.1f", all["collections"].to_f / nodes), format("%.1f", outcomes[policy]["end"] / 1e9)]
          [short, parts]
        end
        groups << ["#{nodes}", bars]
        report.data["figure"]["#{program} #{nodes}"] = outcomes.transform_values { |o| o.slice("end", "all", "messages") }
      rescue Child::Failed => e
        report.note("#{program} on #{nodes} nodes could not be recorded: #{e.message}")
      end
      report.say("### #{program}", "")
      report.table(%w[nodes time active idle collection overhead full seconds], rows)
      report.plot("figure2-#{program}.svg", "#{program}, simulated", Stack.new("#{program.upcase} (simulated): time of all nodes, FS is 1", groups))
    end
  end
end
