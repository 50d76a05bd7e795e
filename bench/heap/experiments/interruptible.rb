# Full collections in slices against those at one stop.
module Bench
  experiment "interruptible", "full collections in slices: pauses, throughput and memory beside those at one stop" do |suite, report|
    live = suite.quick ? 50 : 200
    asked = suite.quick ? 20 : 200
    pairs = suite.options[:rounds] || (suite.quick ? 2 : 7)
    work = suite.quick ? 2_000_000 : 8_000_000
    plain = Heap.variant(suite, "plain", { "KUMI_GC" => "plain" })
    slices = Heap.variant(suite, "interruptible", { "KUMI_GC" => "interruptible" })
    run = lambda do |runtime, **words|
      result = suite.run(runtime, "interruptible", *words.map { |k, v| "#{k}=#{v}" }, env: Heap.workers(2), timeout: 900)
      raise Child::Failed, result.why unless result.ok?
      JSON.parse(result.out.lines.last)
    end
    report.section("Interruptible full collections", <<~TEXT)
      `programs/interruptible.rb live=#{live}`, two workers. Pauses: one thread makes objects while #{asked} full collections are asked for one after the other; all stops of full
      collections count, and no others. Throughput and memory: two threads make #{2 * work} objects, full collections come by themselves; #{pairs} runs of each in turn. Milliseconds from
      request to resume, upper ends of the histogram's buckets.
    TEXT
    told = [plain, slices].to_h { |r| [r, run.(r, live: live, asked: asked, threads: 1)] }
    stops = ->(t) { t["gc"]["pause_slice"]&.values&.sum.to_i > 0 ? t["gc"]["pause_slice"] : t["gc"]["pause_full"] }
    report.table(["full collections", "their number", "stops", "median", "99 %", "longest", "stopped, ms each"], told.map do |r, t|
      h = stops.(t)
      [r.name, t["gc"]["full_count"].to_s, Bench.figure(h.values.sum), *[0.5, 0.99, 1.0].map { |q| format("%.2f", Heap.percentile(h, q)) },
       format("%.1f", t["gc"]["full_ns"] / 1e6 / t["gc"]["full_count"])]
    end)
    runs = suite.turns([plain, slices], pairs) { |r| run.(r, live: live, work: work, threads: 2) }
    raise Child::Failed, runs if runs.is_a?(String)
    speed = Stats.ratio(runs.map { |a, b| a["seconds"] / b["seconds"] })
    memory = Stats.ratio(runs.map { |a, b| b["memory"].to_f / a["memory"] })
    report.table(["interruptible over plain", "ratio", "95 % interval"], [["throughput", speed], ["highest memory", memory]].map do |name, (m, low, high)|
      [name, format("%.3f", m), format("%.3f to %.3f", low, high)]
    end)
    calls = suite.quick ? 500 : 5000
    file = File.join(suite.programs, "called.rb")
    called = [plain, slices].to_h do |r|
      result = suite.run_command([*r.command, "run", "--nodes", "2", file, "live=#{live}", "calls=#{calls}"], env: r.env, timeout: 600)
      line = result.out&.lines&.grep(/"calls"/)&.last or raise Child::Failed, result.why || "told nothing of its calls"
      [r, JSON.parse(line[/\{.*\}/])]
    end
    report.section("Calls of another node's object meanwhile", <<~TEXT)
      `kumi run --nodes 2 programs/called.rb live=#{live}`: #{calls} calls, a millisecond between two, of an object of a node that makes full collections one after the other.
    TEXT
    report.table(["full collections", "their number", "median", "99 %", "99.9 %", "longest"], called.map do |r, t|
      [r.name, t["full"].to_s, *%w[p50 p99 p999 max].map { |k| format("%.2f", t[k]) }]
    end)
    report.bound("99th percentile of all stops of #{asked} full collections in slices, #{live} MB live", Heap.percentile(stops.(told[slices]), 0.99), 3, "ms")
    report.bound("full collections in slices that were measured", told[slices]["gc"]["cycle_count"], asked, "", least: true)
    report.bound("throughput, interruptible over plain", speed[0], 0.9, "x", least: true)
    report.bound("highest memory, interruptible over plain", memory[0], 1.3, "x")
    report.data["interruptible"] = { pauses: told.transform_keys(&:name), runs: runs, calls: called.transform_keys(&:name) }
  end
end
