# What becomes of the allocated bytes: figures 6 and 7 and table 1 of the paper.
module Bench
  module Heap
    # Rows of a rule's table and chart: each program under each strategy, after what foresight would have done.
    def self.fates(suite, report, rule)
      env = { "KUMI_TLH" => rule }
      strategies = { "ideal" => IDEAL, **STRATEGIES }
      items = SET.keys.flat_map { |p| strategies.keys.map { |s| [p, s] } }
      found = suite.rounds(items, reps: 1) { |(p, s), _| measured(suite, p, size(suite, p), env: env.merge(strategies[s])) }
      failures(report, found)
      shares = found.to_h do |(p, s), runs|
        run = runs.first
        share = run.is_a?(Run) ? run.fates : nil
        share = ideal(run) if s == "ideal" && run.is_a?(Run)
        [[p, s], share]
      end
      report.table(["program, strategy", "freed in windows %", "misspeculated %", "shared %", "MB", "young", "full", "retired", "window collections", "sites in windows", "sites outside"],
                   items.map do |i|
                     run = found[i].first
                     next [i.join(", "), nil] unless run.is_a?(Run)
                     [i.join(", "), *(shares[i] || [nil] * 3).map { |x| percent(x) }, mb(run), run.young, run.full, run["retirements"], run["window_count"], run["sites_window"], run["sites_shared"]].map { |c| c.is_a?(Integer) ? Bench.figure(c) : c }
                   end)
      rows = items.filter_map { |i| shares[i] && [i.join(", "), shares[i].map { |x| x * 100 }] }
      # What the paper's program came to stands behind the one that stands for it.
      rows = rows.chunk_while { |a, b| a[0][/\A\w+/] == b[0][/\A\w+/] }.flat_map { |group| group + Paper.fates(group[0][0][/\A\w+/]) }
      unless rows.empty?
        chart = Plot.bars("What became of the bytes, #{rule} rule", y: "% of allocated bytes", names: ["freed in windows", "misspeculated", "shared"], rows: rows, stacked: true)
        report.plot("fates-#{rule}.svg", "Figures 6 and 7, #{rule} rule", chart, "The lowest part is what thread-local collections freed: more is better; the middle one was there in vain: less is better. Read a program's bars from ideal to 1/4, then the paper's of the Java program that it stands for (table 1, a rule of any store).")
      end
      report.data["fates #{rule}"] = shares.map { |(p, s), x| { program: p, strategy: s, shares: x, gc: found[[p, s]].first.is_a?(Run) ? found[[p, s]].first.gc : nil } }
    end

    def self.mb(run) = run.allocated && format("%.1f", run.allocated / 1e6)

    # With foresight nothing is misspeculated: what would be published is born outside.
    def self.ideal(run)
      return nil unless run.allocated && run.allocated > 0 && run.ideal
      share = run.ideal / run.allocated.to_f
      [share, 0.0, 1 - share]
    end

    # Fates of the bytes between a run and one of about twice the work: with no loading in it and nothing that sites still learn.
    def self.settled(short, long)
      gc = long.gc.to_h { |k, v| [k, v.is_a?(Numeric) && short.gc[k].is_a?(Numeric) ? v - short.gc[k] : nil] }
      Run.new(gc)
    end
  end

  experiment "fates", "figures 6 and 7, table 1: bytes freed in windows, misspeculated, and shared" do |suite, report|
    report.section("Fates of bytes (figures 6 and 7, table 1)", <<~TEXT)
      Each program of the set once under each strategy. Shares of the bytes of all cells: freed by a window collection; allocated in a window and
      later published or retired (misspeculated); allocated outside windows. What is missing from 100 lay in windows at the end. ideal: perfect foresight by counting
      (what was never published). Strategies: none (all is born in windows), static (stores that are certain go straight to the shared heap), 1/16 and 1/4 (static, and the sites' history with that threshold).
    TEXT
    %w[closure paper].each do |rule|
      report.note("The #{rule} rule:")
      Heap.fates(suite, report, rule)
    end
    report.note("The paper's table 1:")
    report.table(["program, strategy", "freed %", "misspeculated %", "shared %"], Heap::SET.keys.flat_map { |p| Paper.fates(p) }.map { |n, x| [n, *x.map { |v| format("%.2f", v) }] })
    report.note("Of its figure 6 (a simulator with perfect foresight) the text has mtrt at #{Paper::IDEAL["mtrt"]} % and javac at #{Paper::IDEAL["javac"]} %, the others between 20 and 80; misspeculated with history jack 6 %, the others at most 3 %.")
  end

  experiment "settled", "the default's fates over the set: whole runs, and after the history has settled" do |suite, report|
    report.section("The default over the set", <<~TEXT)
      Default settings. Whole: one run. Settled: what a run of twice the size has more than that run, so that loading and what the sites still learn are not in it. The
      warehouse program on two workers, in its steady state.
    TEXT
    items = Heap::SET.keys.flat_map { |p| [1, 2].map { |k| [p, k] } }
    found = suite.rounds(items, reps: 1) { |(p, k), _| Heap.measured(suite, p, Heap.size(suite, p) * k) }
    found[["warehouse", 0]] = suite.rounds([["warehouse"]], reps: 1) do
      Heap.warehouse(suite, suite.kumi, env: Heap.budget(suite).merge(Heap.workers(2)), warehouses: 2, transactions: Heap.transactions(suite, 2))
    end.values.first
    Heap.failures(report, found)
    settled = {}
    rows = [*Heap::SET.keys, "warehouse"].map do |p|
      a, b = p == "warehouse" ? [nil, found[[p, 0]].first] : [found[[p, 1]].first, found[[p, 2]].first]
      next [p, nil] unless b.is_a?(Heap::Run) && (a.nil? || a.is_a?(Heap::Run))
      settled[p] = (a ? Heap.settled(a, b) : b).fates
      whole = (a || b).fates
      [p, *(whole || [nil] * 3).map { |x| Heap.percent(x) }, *(settled[p] || [nil] * 3).map { |x| Heap.percent(x) }]
    end
    report.table(["program", "freed %", "misspeculated %", "shared %", "settled: freed %", "misspeculated %", "shared %"], rows)
    report.table(["the paper's table 2", "freed %", "misspeculated %", "shared %"], [["SPECjbb2000", *Paper::TABLE_2.map { |v| format("%.2f", v) }]])
    bars = settled.filter_map { |p, x| x && [p, x.map { |v| v * 100 }] } + [["paper's SPECjbb2000", Paper::TABLE_2]]
    report.plot("table2-settled.svg", "Table 2", Plot.bars("Fates once the history has settled", y: "% of allocated bytes", names: ["freed in nurseries", "misspeculated", "shared"], rows: bars, stacked: true),
                "The lowest part is what was freed with nobody standing still: more is better. The warehouse program is what stands for the paper's last bar.") if bars.size > 1
    known = settled.values.compact
    known = [] unless known.size == settled.size
    freed = known.map { |x| [x[0], 1e-4].max }
    report.bound("bytes freed by window collections, geometric mean over the set", freed.empty? ? nil : Stats.geomean(freed) * 100, 40, "%", least: true)
    report.bound("misspeculated bytes once settled, the program with most", known.empty? ? nil : known.map { |x| x[1] }.max * 100, 5, "%")
    report.data["settled"] = settled.map { |p, x| { program: p, shares: x } }
  end
end
