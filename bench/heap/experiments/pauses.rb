# How long everybody stands still with much alive, and how fast marking is.
module Bench
  module Heap
    BURDENS = %w[none sort regexp bignum json].freeze

    def self.pauses(suite, runtime, env, **words)
      result = suite.run(runtime, "pauses", *words.map { |k, v| "#{k}=#{v}" }, env: env, timeout: 600)
      raise Child::Failed, result.why unless result.ok?
      JSON.parse(result.out.lines.last)
    end
  end

  experiment "pauses", "pauses of young and full node collections with 200 MB live, and time to safepoint beside long operations" do |suite, report|
    live = suite.quick ? 50 : 200
    count = suite.quick ? 50 : 500
    limit = suite.quick ? 15 : 180
    report.section("Pauses", <<~TEXT)
      `programs/pauses.rb live=#{live}`: two threads on two workers allocate beside #{live} MB that stay alive, until there were #{count} node collections of the sort (or #{limit} s have passed).
      Milliseconds from request to resume, and of that from the request until the last worker stood still; upper ends of the histogram's buckets. Beside them a third thread runs a
      long sort, a regexp match, a bignum product or a JSON parse over and over; longest is the longest such operation.
    TEXT
    modes = [Heap.default(suite), Heap.off(suite)]
    items = %w[young full].flat_map { |mode| Heap::BURDENS.map { |b| [modes[0], mode, b] } + [[modes[1], mode, "none"]] }
    found = suite.rounds(items, reps: 1) { |(r, mode, b), _| Heap.pauses(suite, r, Heap.workers(2), mode: mode, live: live, pauses: count, beside: b, limit: limit) }
    Heap.failures(report, found)
    rows = items.map do |i|
      told = found[i].first
      words = [i.map { |x| x.is_a?(Runtime) ? x.name : x }.join(", ")]
      next [*words, nil] unless told.is_a?(Hash)
      pause, stop = told["gc"]["pause_#{i[1]}"], told["gc"]["time_to_safepoint"]
      cells = [[pause, 0.5], [pause, 0.99], [pause, 1.0], [stop, 0.5], [stop, 0.99], [stop, 1.0]].map { |h, q| (v = Heap.percentile(h, q)) && format("%.2f", v) }
      [*words, pause && Bench.figure(pause.values.sum), *cells, told["rounds"] > 0 ? Bench.figure(told["longest_round_ms"]) : "-"]
    end
    report.table(["settings, sort, beside", "pauses", "median", "99 %", "longest", "to safepoint: median", "99 %", "longest", "longest operation ms"], rows)
    { "young" => 3, "full" => 60 }.each do |mode, most|
      told = found[[modes[0], mode, "none"]].first
      pause = told["gc"]["pause_#{mode}"] if told.is_a?(Hash)
      report.bound("99th percentile of #{mode} pauses, #{live} MB live, two workers", Heap.percentile(pause, 0.99), most, "ms")
      report.bound("number of #{mode} pauses measured", pause&.values&.sum, count, "", least: true)
    end
    bars = items.filter_map do |i|
      told = found[i].first
      next unless told.is_a?(Hash) && (p = Heap.percentile(told["gc"]["pause_#{i[1]}"], 0.99))
      [i.map { |x| x.is_a?(Runtime) ? x.name : x }.join(", "), [[p], (s = Heap.percentile(told["gc"]["time_to_safepoint"], 0.99)) && [s]]]
    end
    report.plot("pauses.svg", "Pauses", Plot.bars("Pauses, 99th percentile", y: "ms", names: ["pause", "to safepoint"], rows: bars), "Lower is better. The second bar is a part of the first: the time until the last worker stood still. Compare rows with a long operation beside the one with none, and default with off.") unless bars.empty?
    report.data["pauses"] = items.map { |i| { settings: i[0].name, mode: i[1], beside: i[2], result: found[i].first } }
  end

  experiment "marking", "how fast full collections mark, by workers" do |suite, report|
    live = suite.quick ? 50 : 200
    report.section("Marking", "`programs/pauses.rb mode=mark live=#{live}`: 20 full node collections one after the other with nothing else to do: MB alive marked per second of marking, by workers, and of one worker.")
    counts = [1, 2]
    found = suite.rounds(counts.map { |n| [n] }) { |(n), _| Heap.pauses(suite, suite.kumi, Heap.workers(n), mode: "mark", live: live) }
    Heap.failures(report, found)
    rate = lambda do |told|
      gc = told["gc"]
      ns = gc["marking_ns"] || (gc["marking_time"] && gc["marking_time"] * 1e6)
      number = gc["full_count"] || gc["count"]
      told["live_bytes"] * number / 1e6 / (ns / 1e9) if ns && ns > 0 && told["live_bytes"]
    end
    speeds = counts.to_h { |n| [n, Heap.median(found[[n]], &rate)] }
    report.table(["workers", "MB/s", "MB/s per worker", "full collection ms"], counts.map do |n|
      stopped = Heap.median(found[[n]]) { |t| t["gc"]["full_ns"] ? t["gc"]["full_ns"] / 1e6 / t["gc"]["full_count"] : t["gc"]["time"].to_f / t["gc"]["count"] }
      [n.to_s, Bench.figure(speeds[n]), speeds[n] && Bench.figure(speeds[n] / n), stopped && format("%.1f", stopped)]
    end)
    worst = speeds.filter_map { |n, s| s && s / n }.min
    report.bound("marking per worker, the slower of one and two workers", worst, 300, "MB/s", least: true)
    report.data["marking"] = speeds.map { |n, s| { workers: n, mb_per_second: s } }
  end
end
