# The paper's figure 2, of its programs in Ruby.
module Bench
  experiment "figure", "where the time of the paper's four programs goes under each strategy, on the paper's machine", simulated: true do |suite, report|
    most = suite.options[:nodes] || (suite.quick ? 4 : 16)
    sizes = suite.options[:sizes]&.split(",")&.map { |n| Integer(n) } || [1, 2, 4, 8, 16, 32, 64, 128, 256].select { |n| n <= most }
    report.section("Figure 2, simulated", <<~TEXT)
      Each program is recorded on as many nodes as are shown, all of them processes of this machine, and replayed on the paper's machine: #{AP1000.join(" ")}. Times
      of all nodes together, as shares of FS's: active, idle, collection, overhead. Time: that of the strategy by FS's. From 32 nodes on the problems are
      larger ones, of which a node has something to do and to keep: #{Figure.sizes}.
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
        report.note("#{program} on #{nodes} nodes could not be recorded or replayed: #{e.message}")
      end
      report.say("### #{program}", "")
      report.table(%w[nodes time active idle collection overhead full seconds], rows)
      report.plot("figure2-#{program}.svg", "#{program}, simulated", Stack.new("#{program.upcase} (simulated): time of all nodes, FS is 1", groups))
    end
  end

  experiment "processors", "FI by FS where processors are not so slow, and where messages cost them nothing more than the round trip", long: true, simulated: true do |suite, report|
    report.section("Slower processors, and what messages cost them, simulated", <<~TEXT)
      The paper's machine with processors that are so many times slower than here: the paper does not say what ABCL/f makes of its processors, and #{SLOWER} is ours. A
      collection takes as long everywhere. The time of FI by that of FS. Messages: `the machine's` is its round trip alone (--no-overhead), as `figure` has it;
      `as recorded` has what messages and switches took here, as many times slower, beside that.
    TEXT
    sizes = suite.options[:sizes]&.split(",")&.map { |n| Integer(n) } || (suite.quick ? [4] : [16, 64, 256])
    rows = PAPER.product(sizes, Figure::WAYS.keys).map { |program, nodes, way| Figure.slower(Recordings.new(suite), report, program, nodes, way) }
    report.table(["nodes", "messages", *Figure::TIMES.map { |n| "#{n} times" }], rows)
    report.data["processors"] = rows
  end

  module Figure
    # How many times as long as here computing takes.
    TIMES = [10, 20, 50].freeze
    # What messages cost.
    WAYS = { "the machine's" => AP1000, "as recorded" => RECORDED }.freeze

    module_function

    def sizes
      SIZES.map { |program, all| "#{program} #{all.reject { |_, words| words.empty? }.map { |n, words| "from #{n} on #{words.join(" ")}" }.join(", ")}" }.join("; ")
    end

    # A row of `processors`.
    def slower(recordings, report, program, nodes, way)
      folder = recordings.of(program, nodes)
      ratios = TIMES.map do |times|
        o = recordings.replay(folder, *WAYS[way], "--slower", times.to_s, policies: %w[FI FS])
        format("%.3f", o["independent"]["end"].to_f / o["synchronised"]["end"])
      end
      ["#{program} #{nodes}", way, *ratios]
    rescue Child::Failed => e
      report.note("#{program} on #{nodes} nodes: #{e.message}")
      ["#{program} #{nodes}", way]
    end
  end
end
