# How often and how long all stand still for the warehouse program: table 4 and figure 17 of the paper.
module Bench
  experiment "collections", "table 4, figure 17: node collections, their time and total pause, against off" do |suite, report|
    report.section("Node collections (table 4, figure 17)", <<~TEXT)
      The runs of the throughput by warehouses (the same transactions on both sides). Node collections by sort, the time from request to resume in all
      and of one; windows collected and retired. Total pause is that of all node collections.
    TEXT
    found = Heap.sweep(suite)
    Heap.failures(report, found)
    on, off = Heap.default(suite), Heap.off(suite)
    cells = lambda do |runs, count, ns|
      n, time = Heap.median(runs) { |r| r[count] }, Heap.median(runs) { |r| r[ns] }
      [Bench.figure(n), time && format("%.3f", time / 1e9), n && time && n > 0 ? format("%.2f", time / n / 1e6) : nil]
    end
    [off, on].each do |m|
      report.note("#{m.name}:")
      report.table(["warehouses", "young", "s", "ms each", "full", "s", "ms each", "total pause s", "window collections", "s", "us each", "retired"], Heap.counts(suite).map do |n|
        runs = found[[n, m]]
        windows = Heap.median(runs) { |r| r["window_count"] }
        time = Heap.median(runs) { |r| r["window_ns"] }
        [n.to_s, *cells.(runs, "young_count", "young_ns"), *cells.(runs, "full_count", "full_ns"), (v = Heap.median(runs, &:stopped)) && format("%.3f", v),
         Bench.figure(windows), time && format("%.3f", time / 1e9), windows && time && windows > 0 ? format("%.1f", time / windows / 1e3) : nil,
         Bench.figure(Heap.median(runs) { |r| r["retirements"] })]
      end)
    end
    measured = Heap.counts(suite).to_h do |n|
      [n, %i[stops stopped].map { |read| a, b = [off, on].map { |m| Heap.median(found[[n, m]], &read) }; a && b && a > 0 ? b / a.to_f * 100 : nil }]
    end
    report.note("Default in % of off's, beside the paper's table 4 (TLH of the original's, two Pentium 3):")
    report.table(["warehouses", "collections", "paper's", "total pause", "paper's"], measured.map do |n, (count, pause)|
      told = Paper.collections(n)
      [n.to_s, count && format("%.1f", count), told && format("%.1f", told[0]), pause && format("%.1f", pause), told && format("%.1f", told[1])]
    end)
    chart = Plot.new("Total pause, default over off", x: "warehouses", y: "% of off's")
    ["collections", "total pause"].each_with_index do |name, i|
      chart.line(name, measured.filter_map { |n, v| v[i] && [n, v[i]] })
      chart.line("paper, #{name}", Heap.counts(suite).filter_map { |n| (v = Paper.collections(n)) && [n, v[i]] })
    end
    report.plot("fig17-pauses.svg", "Figure 17", chart, "Lower is better; at 100 the default stands still as often, or as long, as off. Compare each line with the paper's of the same name, which is computed from its table 4 (recovery collections count as stops).") unless chart.empty?
    report.note("Over 1 to 16 warehouses the paper has 23.4 % fewer collections and 13.8 % less total pause.")
    report.data["collections"] = measured.map { |n, (count, pause)| { warehouses: n, collections: count, pause: pause } }
  end

  experiment "two-workers", "node collections, their time and the throughput with two warehouses on two workers, default against off, in pairs" do |suite, report|
    pairs = suite.options[:rounds] || (suite.quick ? 3 : 11)
    number = Heap.transactions(suite, 2) * 2
    report.section("Two warehouses on two workers", <<~TEXT)
      `programs/warehouse.rb warehouses=2 transactions=#{number}` with KUMI_HEAP_MAX=#{Heap.budget(suite).values[0]}, #{pairs} pairs run in turn with the order changing. Medians; ratios are the
      mean of the pairs' logarithms without the fifth at either end, with a 95 % bootstrap interval.
    TEXT
    modes = [Heap.off(suite), Heap.default(suite)]
    env = Heap.budget(suite).merge(Heap.workers(2))
    runs = suite.turns(modes, pairs) { |m| Heap.warehouse(suite, m, env: env, warehouses: 2, transactions: number) }
    next report.note("Failed: #{runs}") if runs.is_a?(String)
    columns = modes.each_index.map { |i| runs.map { |r| r[i] } }
    show = ->(list, form, &read) { (v = Heap.median(list, &read)) && format(form, v) }
    report.table(["two workers", "transactions/s", "node collections", "young", "full", "total pause s", "window collections", "window s", "retired"], modes.zip(columns).map do |m, list|
      [m.name, show.(list, "%.0f", &:tps), show.(list, "%.1f", &:stops), show.(list, "%.1f", &:young), show.(list, "%.1f", &:full), show.(list, "%.4f", &:stopped),
       show.(list, "%.0f") { |r| r["window_count"] }, show.(list, "%.3f") { |r| r["window_ns"] && r["window_ns"] / 1e9 }, show.(list, "%.0f") { |r| r["retirements"] }]
    end)
    over = lambda do |least, &read|
      list = runs.map { |a, b| [read.(a), read.(b)] }
      list.any? { |x| x.any?(&:nil?) } ? nil : Heap.median(list) { |a, _| a } / [Heap.median(list) { |_, b| b }, least].max.to_f
    end
    rates = runs.map { |a, b| b.tps / a.tps }
    m, low, high = Stats.ratio(rates)
    report.note(format("Throughput of default over off: %.3f (%.3f to %.3f).", m, low, high))
    report.bound("off's node collections over the default's", over.(1, &:stops), 5, "x", least: true)
    report.bound("off's total pause over the default's", over.(1e-6, &:stopped), 3, "x", least: true)
    report.bound("throughput of the default over off (interval #{format("%.3f to %.3f", low, high)})", m, 1, "x", least: true)
    report.data["two-workers"] = { runs: runs.map { |r| r.map(&:raw) }, throughput: [m, low, high] }
  end
end
