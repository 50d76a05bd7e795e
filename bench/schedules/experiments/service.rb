# A service over eight nodes: how long its requests take.
module Bench
  experiment "service", "a service over eight nodes, at least 100,000 requests: its latencies under all schedules, over twenty seeds", long: true, simulated: true do |suite, report|
    seeds = (1..(suite.quick ? 2 : 20)).to_a
    length = suite.quick ? "6s" : "64s"
    report.section("A service over eight nodes, simulated", <<~TEXT)
      The pattern `service` on the paper's machine: requests come to all nodes, and each asks three others. #{seeds.size} seeds. Milliseconds, means over the seeds,
      and half of the 95 % interval.
    TEXT
    recordings = Recordings.new(suite)
    rows = Hash.new { |all, name| all[name] = [] }
    seeds.each do |seed|
      out = JSON.parse(recordings.simulate("--pattern", "service", "--nodes", "8", "--length", length, "--seed", seed.to_s, "--json"))
      out["policies"].each { |p| rows[p["policy"]] << p.slice("requests", "p50", "p99", "p999") }
    end
    at = ->(runs, key) { Seeds.mean(runs) { |r| r[key] / 1e6 } }
    report.table(["schedule", "requests", "p50", "p99", "p99.9"], rows.map do |name, runs|
      [name, Bench.figure(runs.map { |r| r["requests"] }.min), *%w[p50 p99 p999].map { |k| at[runs, k].then { |m, h| format("%.1f ± %.1f", m, h) } }]
    end)
    tail = ->(name) { at[rows[name], "p999"][0] }
    best = (rows.keys - Seeds::FOUR).min_by(&tail)
    report.bound("p99.9 of #{best} by that of FI", tail[best] / tail["independent"], 0.5, "")
    report.bound("requests", rows.values.flatten.map { |r| r["requests"] }.min, 100_000, "", least: true)
    report.data["service"] = rows
  end
end
