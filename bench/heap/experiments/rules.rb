# The closure rule beside the paper's on every program, what static analysis alone brings under either, and what a stack costs when its task parks.
module Bench
  module Heap
    RULES = { "closure" => { "KUMI_TLH" => "closure" }, "paper" => { "KUMI_TLH" => "paper" } }.freeze

    # Medians of the runs' shares, in %.
    def self.shares(runs) = [0, 1, 2].map { |i| (v = median(runs) { |r| r.fates && r.fates[i] }) && v * 100 }

    # Time of one column of turns over another's: [ratio, low, high].
    def self.over(runs, one, other) = Stats.ratio(runs.map { |r| r[one].cpu / r[other].cpu })
  end

  experiment "rules", "the closure rule and the paper's side by side on every program: fates, collections, time" do |suite, report|
    pairs = suite.options[:rounds] || (suite.quick ? 2 : 11)
    report.section("The closure rule and the paper's", <<~TEXT)
      Two workers, #{pairs} turns with the order changing. closure: a store makes an object leave its nursery only where the cell that it is stored in has left. paper: any store into a field does.
      off: no nurseries. Shares of the allocated bytes: freed in nurseries, there in vain (misspeculated), born outside. Time is processor time over off's, mean of the logarithms
      without the fifth at either end, 95 % bootstrap interval.
    TEXT
    modes = [*Heap::RULES.map { |name, env| Heap.variant(suite, name, env) }, Heap.off(suite)]
    env = Heap.budget(suite).merge(Heap.workers(2))
    shares, times = {}, {}
    rows = Heap.cases(suite).flat_map do |program, body|
      runs = suite.turns(modes, pairs) { |m| body.(m, env) }
      next [[program, runs]] if runs.is_a?(String)
      modes.each_with_index.map do |m, i|
        list = runs.map { |r| r[i] }
        name = "#{program}, #{m.name}"
        off = m.name == "off"
        shares[name] = Heap.shares(list) unless off
        times[[program, m.name]] = Heap.over(runs, i, modes.size - 1) unless off
        ratio, low, high = times[[program, m.name]]
        [name, *(shares[name] || [nil] * 3).map { |x| x && format("%.1f", x) }, Bench.figure(Heap.median(list, &:stops)), Bench.figure(Heap.median(list) { |r| r["window_count"] }),
         ratio && format("%.3f", ratio), ratio && format("%.3f to %.3f", low, high)]
      end
    end
    report.table(["program, rule", "freed %", "misspeculated %", "shared %", "node collections", "nursery collections", "time / off", "95 % interval"], rows)
    told = Heap::SET.keys.flat_map { |p| Paper.fates(p) } + [["paper's SPECjbb2000", Paper::TABLE_2]]
    report.note("The paper's rule in the paper (tables 1 and 2), freed, misspeculated, shared: #{told.map { |n, x| "#{n.delete_prefix("paper's ")} #{x.join(", ")}" }.join("; ")}.")
    bars = shares.select { |_, x| x.compact.size == 3 }.to_a + told
    report.plot("rules-fates.svg", "Fates under both rules", Plot.bars("What became of the bytes under both rules", y: "% of allocated bytes", names: ["freed in nurseries", "misspeculated", "shared"], rows: bars, stacked: true),
                "The lowest part is what nobody had to stand still for: more is better. Compare a program's two bars; the last ones are what the paper tells of its Java programs under its rule.") unless shares.empty?
    bars = times.keys.map(&:first).uniq.map { |p| [p, Heap::RULES.keys.map { |m| times[[p, m]] }] }
    chart = Plot.bars("Processor time under both rules", y: "time over off's", names: ["closure rule", "the paper's rule"], rows: bars, base: 1.0)
    report.plot("rules-time.svg", "Time under both rules", chart, "Below 1 nurseries save time, above 1 they cost it. Compare the two bars of a program; intervals that overlap show no difference between the rules.") unless bars.empty?
    report.data["rules"] = { shares: shares, times: times.map { |(p, m), r| { program: p, rule: m, ratio: r } } }
  end

  experiment "static", "what static analysis alone brings, under either rule, and what history adds", steady: true do |suite, report|
    pairs = suite.options[:rounds] || (suite.quick ? 2 : 11)
    report.section("Static analysis alone", <<~TEXT)
      Each program of the set with all objects born in nurseries (none), with those sent to the shared heap of which the compiler is certain (static), and with history as well; #{pairs} turns.
      Misspeculated bytes in % of what was allocated, and processor time over that of none.
    TEXT
    strategies = Heap::STRATEGIES.slice("none", "static", "1/4")
    missed, times = {}, {}
    rows = Heap::RULES.flat_map do |rule, env|
      modes = strategies.map { |name, words| Heap.variant(suite, name, env.merge(words)) }
      Heap::SET.keys.map do |program|
        name = "#{program}, #{rule}"
        runs = suite.turns(modes, pairs) { |m| Heap.measured(suite, program, Heap.size(suite, program), runtime: m) }
        next [name, runs] if runs.is_a?(String)
        missed[name] = modes.each_index.map { |i| Heap.shares(runs.map { |r| r[i] })[1] }
        times[name] = [1, 2].map { |i| Heap.over(runs, i, 0) }
        [name, *missed[name].map { |x| x && format("%.2f", x) }, *times[name].map { |r, low, high| format("%.3f (%.3f to %.3f)", r, low, high) }]
      end
    end
    report.table(["program, rule", "none: misspeculated %", "static %", "static and history %", "static: time / none", "static and history: time / none"], rows)
    Heap::RULES.each_key do |rule|
      found = missed.select { |name, x| name.end_with?(rule) && x.compact.size == 3 }.values
      next if found.empty?
      gains = found.map { |none, static, history| [none - static, static - history] }
      # Shares of two runs differ a little: what is less than a hundredth is none.
      mean = ->(k) { (gains.sum { |g| g[k] } / gains.size).round(2) + 0.0 }
      report.note(format("Under the %s rule static analysis alone takes away %.2f of 100 allocated bytes from what is misspeculated, on the mean of the programs (at most %.2f); history takes away %.2f more.", rule, mean.(0), gains.map(&:first).max.round(2) + 0.0, mean.(1)))
    end
    report.note("The paper gives no figures in text for static analysis alone; of its figure 6 it says that for jess, javac and jack it takes away most of what is misspeculated.")
    chart = Plot.bars("Misspeculated bytes by strategy", y: "% of allocated bytes", names: ["none", "static", "static and history"], rows: missed.map { |n, x| [n, x.map { |v| v && [v] }] })
    report.plot("static.svg", "Static analysis alone", chart, "Lower is better. What static analysis alone brings is the step from the first bar of a program to the second; what history brings is the step to the third.") unless missed.empty?
    report.data["static"] = { misspeculated: missed, times: times }
  end

  experiment "parking", "what it costs that a task which parks publishes what its stack holds" do |suite, report|
    counts = suite.quick ? [0, 16, 128] : [0, 1, 4, 16, 64, 256]
    rounds = suite.quick ? 2_000 : 20_000
    reps = suite.quick ? 3 : [suite.reps, 11].max
    report.section("Publishing a parking task's stack", <<~TEXT)
      `programs/parking.rb MODE N #{rounds}` on one worker: two threads hand a turn to each other by queues. Before each wait the first one makes N objects, a frame each, which its stack holds
      while it is parked (held) or has let go (dropped); all else is the same. Nanoseconds of processor time of a round, held less dropped in the same round of runs, median of #{reps}, and by object. off: no nurseries, so nothing is
      published. always: all are born in a nursery and published at each wait (KUMI_TLH_SITES=none). default: once history knows, they are born outside, and nothing is left to publish.
    TEXT
    modes = [Heap.off(suite), Heap.variant(suite, "always", { "KUMI_TLH_SITES" => "none" }), Heap.default(suite)]
    items = counts.product(modes, %w[held dropped])
    found = suite.rounds(items, reps: reps) do |(n, mode, kind), _|
      result = suite.run(mode, "parking", kind, n, rounds, env: Heap.workers(1))
      raise Child::Failed, result.why unless result.ok?
      JSON.parse(result.out)
    end
    Heap.failures(report, found)
    cost = counts.product(modes).to_h do |n, m|
      a, b = %w[held dropped].map { |k| found[[n, m, k]].grep(Hash) }
      [[n, m.name], a.empty? || a.size != b.size ? nil : Stats.median(a.zip(b).map { |x, y| x["ns"] - y["ns"] })]
    end
    published = ->(n, m) { (v = Heap.median(found[[n, m, "held"]]) { |r| r["gc"]["published_cells"] }) && v / rounds.to_f }
    report.table(["objects held", *modes.flat_map { |m| ["#{m.name}: ns", "by object"] }, "always: published a wait", "default: published a wait"], counts.map do |n|
      [n.to_s, *modes.flat_map { |m| c = cost[[n, m.name]]; [c && format("%.0f", c), c && n > 0 ? format("%.1f", c / n) : nil] }, *modes.drop(1).map { |m| (v = published.(n, m)) && format("%.1f", v) }]
    end)
    chart = Plot.new("What is held while a task parks", x: "objects on the stack", y: "ns of a round above one that holds none of them", zero: true)
    modes.each { |m| chart.line(m.name, counts.filter_map { |n| cost[[n, m.name]] && [n, cost[[n, m.name]]] }) }
    report.plot("parking.svg", "Parking", chart, "Lower is better. The distance from off to always is what publishing costs; the slope of that distance is the cost of an object. The default is to lie near off: it stops making there what it would have to publish.") unless chart.empty?
    report.data["parking"] = cost.map { |(n, m), v| { objects: n, mode: m, ns: v } }
  end
end
