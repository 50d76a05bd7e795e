# Throughput of the warehouse program by windows' size, warehouses and workers, and what is left of it without collections:
# figures 8 to 16 of the paper.
module Bench
  module Heap
    def self.counts(suite) = suite.quick ? [1, 2, 4] : [*1..16]

    # { [warehouses, runtime] => runs } for 1 to 16 warehouses, off and on, in one go for all experiments that read it.
    def self.sweep(suite)
      @sweep ||= begin
        modes = [off(suite), default(suite)]
        env = budget(suite).merge(workers(2))
        suite.rounds(counts(suite).flat_map { |n| modes.map { |m| [n, m] } }) do |(n, m), _|
          warehouse(suite, m, env: env, warehouses: n, transactions: transactions(suite, n))
        end
      end
    end

    # How much of its highest throughput a series has lost at its end.
    def self.decline(points)
      best = points.map(&:last).max
      best && best > 0 ? 1 - points.last[1] / best : nil
    end

    # [x, figure] of one mode over the sweep.
    def self.series(found, mode, &read)
      found.keys.select { |_, m| m == mode }.filter_map { |k| (v = median(found[k], &read)) && [k[0], v] }
    end
  end

  experiment "windows", "figure 8: throughput by window size, 8 to 256 KB" do |suite, report|
    report.section("Window size (figure 8)", <<~TEXT)
      `programs/warehouse.rb` on two workers with KUMI_WINDOW of 8 to 256 KB, and off: thousand transactions per second by warehouses.
    TEXT
    sizes = [8, 16, 32, 64, 128, 256]
    counts = suite.quick ? [2] : [1, 2, 4, 8]
    modes = [*sizes.map { |s| Heap.variant(suite, "#{s} KB", { "KUMI_WINDOW" => s.to_s }) }, Heap.off(suite)]
    env = Heap.budget(suite).merge(Heap.workers(2))
    found = suite.rounds(counts.flat_map { |n| modes.map { |m| [n, m] } }) do |(n, m), _|
      Heap.warehouse(suite, m, env: env, warehouses: n, transactions: Heap.transactions(suite, n))
    end
    Heap.failures(report, found)
    rate = ->(m, n) { Heap.median(found[[n, m]], &:tps) }
    report.table(["window", *counts.map { |n| "#{n} W.H." }, "window collections", "retired", "node collections"], modes.map do |m|
      last = found[[counts.last, m]]
      [m.name, *counts.map { |n| (v = rate.(m, n)) && format("%.2f", v / 1e3) },
       *["window_count", "retirements"].map { |k| Bench.figure(Heap.median(last) { |r| r[k] }) }, Bench.figure(Heap.median(last, &:stops))]
    end)
    chart = Plot.new("Throughput by window size", x: "warehouses", y: "transactions per second")
    modes.each { |m| chart.line(m.name, counts.filter_map { |n| (v = rate.(m, n)) && [n, v] }) }
    report.plot("fig8-windows.svg", "Figure 8", chart, "Higher is better. A line is a size of nursery: see which one is highest, and whether small ones scatter, as in the paper, whose curves (highest at 32 KB, worse from 128 KB on and below 32) have no figures in text.") unless chart.empty?
    chart = Plot.new("Throughput by window size", x: "window, bytes", y: "transactions per second", x_scale: :log2)
    counts.each do |n|
      chart.line("#{n} warehouses", sizes.zip(modes).filter_map { |s, m| (v = rate.(m, n)) && [s * 1024, v] })
    end
    report.plot("windows.svg", "Throughput by window size", chart, "The same figures by size: higher is better. A hump says that there is a best size; the paper's is at 32 KB.") unless chart.empty?
    report.data["windows"] = found.map { |(n, m), runs| { warehouses: n, window: m.name, tps: runs.map { |r| r.is_a?(String) ? r : r.tps } } }
  end

  experiment "warehouses", "figures 9 to 12: throughput by 1 to 16 warehouses, off and on, and the decline after the peak" do |suite, report|
    report.section("Throughput by warehouses (figures 9 to 12)", <<~TEXT)
      `programs/warehouse.rb`, two workers, the same number of transactions in all, the same limit of memory (KUMI_HEAP_MAX=#{Heap.budget(suite).values[0]}) for both: transactions per second.
    TEXT
    found = Heap.sweep(suite)
    Heap.failures(report, found)
    on, off = Heap.default(suite), Heap.off(suite)
    report.table(["warehouses", "off", "default", "default / off", "off: highest MB", "default: highest MB"], Heap.counts(suite).map do |n|
      a, b = [off, on].map { |m| Heap.median(found[[n, m]], &:tps) }
      [n.to_s, Bench.figure(a), Bench.figure(b), b && a ? format("%.3f", b / a) : nil, *[off, on].map { |m| Bench.mb(Heap.median(found[[n, m]]) { |r| r.memory }) }]
    end)
    chart = Plot.new("Throughput by warehouses", x: "warehouses", y: "transactions per second")
    [off, on].each do |m|
      points = Heap.series(found, m, &:tps)
      chart.line(m.name, points)
      decline = Heap.decline(points)
      report.note("#{m.name}: highest #{Bench.figure(points.map(&:last).max)}, #{Heap.percent(decline)} % less with #{points.last[0]} warehouses.") if decline
    end
    report.plot("fig9-warehouses.svg", "Figures 9 to 12", chart, "Higher is better. Compare the peaks, then how much of its peak each line has lost at its end.") unless chart.empty?
    lines = [off, on].map { |m| Heap.series(found, m, &:tps) }
    peaks = lines.map { |points| points.map(&:last).max }
    report.note("The default's peak is #{Bench.times(peaks[1], peaks[0])} of off's; the paper's with 16 processors #{Paper::PEAK["with TLAB"]} (with per-thread buffers on both sides, as here) and #{Paper::PEAK["without"]} (without); with 2 to 4 processors it had a loss.") if peaks.all?
    rows = %w[off default].zip(lines).map { |name, points| [name, [Heap.decline(points)&.then { |d| [d * 100] }, [Paper::DECLINE[name]]]] }
    report.plot("fig10-decline.svg", "Figure 10", Plot.bars("Lost after the peak", y: "% of the peak's throughput", names: ["kumi, #{Heap.counts(suite).last} warehouses", "paper, 16 processors, 11 warehouses"], rows: rows),
                "Lower is better. Compare the two groups: the paper's claim is that the default's loss is smaller than off's.") unless lines.any?(&:empty?)
    report.data["warehouses"] = found.map { |(n, m), runs| { warehouses: n, mode: m.name, runs: runs.map { |r| r.is_a?(String) ? r : r.raw } } }
  end

  experiment "workers", "figure 13: throughput by workers, as many warehouses as workers" do |suite, report|
    most = [suite.cores, suite.quick ? 2 : 4].max
    counts = (1..most).to_a
    report.section("Throughput by workers (figure 13)", <<~TEXT)
      `programs/warehouse.rb` with 1 to #{most} workers (KUMI_WORKERS) and as many warehouses; this machine has #{suite.cores} cores. Transactions per second.
    TEXT
    modes = [Heap.off(suite), Heap.default(suite)]
    found = suite.rounds(counts.flat_map { |n| modes.map { |m| [n, m] } }) do |(n, m), _|
      Heap.warehouse(suite, m, env: Heap.budget(suite).merge(Heap.workers(n)), warehouses: n, transactions: Heap.transactions(suite, n))
    end
    Heap.failures(report, found)
    rate = ->(m, n) { Heap.median(found[[n, m]], &:tps) }
    report.table(["workers", *modes.map(&:name), "default / off", *modes.map { |m| "#{m.name}, over 1" }], counts.map do |n|
      a, b = modes.map { |m| rate.(m, n) }
      [n.to_s, Bench.figure(a), Bench.figure(b), a && b ? format("%.3f", b / a) : nil, *modes.map { |m| Bench.times(rate.(m, n), rate.(m, 1)) }]
    end)
    chart = Plot.new("Throughput by workers", x: "workers and warehouses", y: "transactions per second")
    modes.each { |m| chart.line(m.name, counts.filter_map { |n| (v = rate.(m, n)) && [n, v] }) }
    report.plot("fig13-workers.svg", "Figure 13", chart, "Higher is better; a straight line through zero scales perfectly. Beyond as many workers as the machine has cores nothing can be gained. The paper has 1 to 16 processors; its text gives only the peak (1.028 of the original's).") unless chart.empty?
    report.data["workers"] = found.map { |(n, m), runs| { workers: n, mode: m.name, tps: runs.map { |r| r.is_a?(String) ? r : r.tps } } }
  end

  experiment "client", "figures 14 to 16: share of collector-free time, and throughput in it" do |suite, report|
    report.section("Collector-free time (figures 14 to 16)", <<~TEXT)
      The runs of the throughput by warehouses. Share of the time in which nobody stood still for a node collection (window collections count as the
      program's own time), and transactions per second of that time.
    TEXT
    found = Heap.sweep(suite)
    on, off = Heap.default(suite), Heap.off(suite)
    free = ->(r) { r.client && r.client > 0 ? r.tps / r.client : nil }
    report.table(["warehouses", "off %", "default %", "off, per free second", "default", "default / off"], Heap.counts(suite).map do |n|
      a, b = [off, on].map { |m| Heap.median(found[[n, m]], &free) }
      [n.to_s, *[off, on].map { |m| Heap.percent(Heap.median(found[[n, m]], &:client)) }, Bench.figure(a), Bench.figure(b), a && b ? format("%.3f", b / a) : nil]
    end)
    chart = Plot.new("Collector-free time", x: "warehouses", y: "% of the time")
    [off, on].each { |m| chart.line(m.name, Heap.series(found, m) { |r| r.client && r.client * 100 }) }
    report.plot("fig14-client.svg", "Figure 14", chart, "Higher is better: 100 % is a run in which nobody ever stood still. The paper has curves without figures; its claim is that the default's line is the higher one.") unless chart.empty?
    chart = Plot.new("Throughput in collector-free time", x: "warehouses", y: "transactions per collector-free second")
    [off, on].each { |m| chart.line(m.name, Heap.series(found, m, &free)) }
    report.plot("fig15-client-throughput.svg", "Figures 15 and 16", chart, "Higher is better. Stops are taken out, so the distance between the lines is what nurseries cost or save while the program itself runs.") unless chart.empty?
    ratios = Heap.counts(suite).filter_map { |n| a, b = [off, on].map { |m| Heap.median(found[[n, m]], &free) }; [n, b / a] if a && b }
    chart = Plot.new("Throughput in collector-free time, default over off", x: "warehouses", y: "ratio", zero: false)
    chart.line("kumi", ratios)
    Paper::CLIENT.each { |machine, ratio| chart.mark("paper, #{machine}", ratio) }
    report.plot("fig15-over-off.svg", "Figures 15 and 16", chart, "Above 1 nurseries save more than they cost while the program runs, below 1 they cost more. Lines across are what the paper tells of its machines (its 16 processors showed no difference up to the peak).") unless chart.empty?
    report.data["client"] = Heap.counts(suite).map { |n| { warehouses: n, off: Heap.median(found[[n, off]], &:client), default: Heap.median(found[[n, on]], &:client) } }
  end
end
