# What windows cost while the program runs: table 3 of the paper. The barrier is measured by the slope method: executed once, and
# executed twice (a build with the feature `barrier-twice`: a test in each barrier would be part of what is measured).
module Bench
  module Heap
    # The build that executes each barrier twice, when one is named.
    def self.twice(suite)
      suite.options[:twice] && Runtime.new("barrier twice", "rb", [suite.options[:twice]], {})
    end

    # What is measured for overhead: the set, and the warehouse program; each is a function of (runtime, env) that gives a Run.
    def self.cases(suite)
      set = SET.keys.to_h { |p| [p, ->(r, env) { measured(suite, p, size(suite, p), env: env, runtime: r) }] }
      set["warehouse"] = ->(r, env) { warehouse(suite, r, env: budget(suite).merge(env), warehouses: 2, transactions: transactions(suite, 2)) }
      set
    end

    # Instructions of a small run.
    def self.instructions(suite, runtime, program)
      return suite.instructions(runtime, "warehouse", "warehouses=2", "transactions=100", "scale=0.05", env: workers(2)) if program == "warehouse"
      suite.instructions(runtime, program, SET[program][2], env: workers(2))
    end
  end

  experiment "overhead", "table 3: barrier (slope method), window collections and the rest of what windows cost", steady: true do |suite, report|
    pairs = suite.options[:rounds] || (suite.quick ? 3 : 31)
    report.section("Overhead (table 3)", <<~TEXT)
      Two workers, heap on. Processor time of default settings, with each barrier executed twice, and off: #{pairs} turns with the order changing, mean of
      the logarithms without the fifth at either end, 95 % bootstrap interval. Barrier: what executing it once more costs. Window collections: their own time. Client: default over off,
      less the time that either stood still for node collections; the rest of it is allocation, free space, and what caches make of it. Negative figures mean that windows save more than they cost.
    TEXT
    unless (twice = Heap.twice(suite))
      report.note("Not measured: name a build whose barriers are executed twice (--twice BIN; cargo build --release -p kumi --features barrier-twice).")
      next
    end
    once, off = Heap.default(suite), Heap.off(suite)
    barrier, instructions, parts = {}, {}, {}
    rows = Heap.cases(suite).map do |program, body|
      runs = suite.turns([once, twice, off], pairs) { |r| body.(r, Heap.workers(2)) }
      next [program, runs] if runs.is_a?(String)
      barrier[program] = runs.map { |a, b, _| b.cpu / a.cpu }
      m, low, high = Stats.ratio(barrier[program])
      client = ->(r) { [r.cpu - (r.stopped || 0), 1e-3].max }
      total = Stats.ratio(runs.map { |a, _, c| client.(a) / client.(c) }, draws: 1)[0] - 1
      windows = Heap.median(runs.map(&:first)) { |r| r["window_ns"] && r["window_ns"] / 1e9 / r.cpu }
      parts[program] = [m - 1, windows, windows && total - (m - 1) - windows].map { |x| x && [x * 100] }
      [program, format("%+.2f", (m - 1) * 100), format("%+.2f to %+.2f", (low - 1) * 100, (high - 1) * 100), windows && format("%.2f", windows * 100),
       format("%+.2f", total * 100), windows && format("%+.2f", (total - (m - 1) - windows) * 100)]
    end
    report.table(["% of client time", "barrier", "95 % interval", "window collections", "client, default over off", "free space and rest"], rows)
    unless barrier.empty?
      m, low, high = Stats.mean_ratio(barrier.values)
      report.note(format("Barrier, geometric mean: %+.2f %% (%+.2f to %+.2f).", *[m, low, high].map { |x| (x - 1) * 100 }))
    end
    report.bound("barrier, geometric mean by the slope method", barrier.empty? ? nil : (m - 1) * 100, 2, "%")
    if suite.callgrind && suite.tool("valgrind")
      counted = Heap.cases(suite).keys.map do |program|
        a, b, c = [once, twice, off].map { |r| Heap.instructions(suite, r, program) }
        instructions[program] = b / a.to_f
        [program, Bench.figure(a), Bench.figure(b), Bench.figure(c), format("%+.2f", (b / a.to_f - 1) * 100), format("%+.2f", (a / c.to_f - 1) * 100)]
      rescue Child::Failed => e
        [program, e.message]
      end
      report.note("Instructions (callgrind, small sizes, loading included):")
      report.table(["instructions", "default", "barrier twice", "off", "barrier %", "default over off %"], counted)
      report.note(format("Barrier, geometric mean of instructions: %+.2f %%.", (Stats.geomean(instructions.values) - 1) * 100)) unless instructions.empty?
    elsif suite.callgrind
      report.note("No instruction counts: valgrind is not installed.")
    end
    told = Paper::TABLE_3
    report.note("The paper's table 3: barrier #{told[:barrier]} %, free lists #{told[:free]} %, thread-local collections #{told[:collections]} % of client time.")
    rows = parts.to_a + [["paper's SPECjbb2000", told.values_at(:barrier, :collections, :free).map { |x| [x] }]]
    report.plot("table3-overhead.svg", "Table 3", Plot.bars("What nurseries cost", y: "% of client time", names: ["barrier", "thread-local collections", "free space and the rest"], rows: rows),
                "Lower is better; a bar below zero saves more than it costs, which the paper's method could not show for its free lists. Compare each program's three bars with the last group, which is the paper's.") unless parts.empty?
    report.data["overhead"] = barrier.map { |p, l| { program: p, barrier: Stats.ratio(l), instructions: instructions[p] } }
  end
end
