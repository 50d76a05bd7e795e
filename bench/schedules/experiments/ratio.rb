# How long collections have to be for schedules to matter.
module Bench
  experiment "ratio", "FI by FS where a collection takes so many round trips for each MB that lives", simulated: true do |suite, report|
    nodes = suite.quick ? 2 : 8
    ratios = [10, 100, 1000, 3000, 10_000]
    report.section("Collections and round trips, simulated", <<~TEXT)
      The paper's machine with other collections: each takes so many of its round trips for each MB that lives. #{nodes} nodes. The time of FI by that of FS.
      The paper's own has about 3,000.
    TEXT
    recordings = Recordings.new(suite)
    rows = PAPER.map do |program|
      folder = recordings.of(program, nodes)
      [program, *ratios.map do |ratio|
        o = recordings.replay(folder, *AP1000, "--ratio", ratio.to_s, policies: %w[FI FS])
        format("%.3f", o["independent"]["end"].to_f / o["synchronised"]["end"])
      end]
    rescue Child::Failed => e
      report.note("#{program}: #{e.message}")
      [program]
    end
    report.table(["program", *ratios.map { |r| Bench.figure(r) }], rows)
    report.data["ratio"] = rows
  end
end
