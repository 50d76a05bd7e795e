# The same warehouses on other runtimes, and what making an object costs there.
module Bench
  experiment "peers", "the warehouse program on kumi, off and on, CRuby, JRuby and Go" do |suite, report|
    report.section("Peers", <<~TEXT)
      `programs/warehouse.rb warehouses=2` and `warehouse.go`, the same transactions with the same checksum: transactions per second, processor time per
      transaction, highest resident memory (loading included), collections and the time everything stood still in the measured part. kumi's limit is KUMI_HEAP_MAX=#{Heap.budget(suite).values[0]}; the others choose for themselves.
    TEXT
    number = Heap.transactions(suite, 2)
    runtimes = [Heap.default(suite), Heap.off(suite), *suite.rubies, *suite.peers]
    items = runtimes.flat_map { |r| (r.cruby? ? [2] : [1, 2]).map { |w| [r, w] } }
    found = suite.rounds(items) do |(r, w), _|
      words = { warehouses: 2, transactions: number }
      # JRuby's compiler needs longer to warm up.
      words[:warmup] = number if r.name == "JRuby"
      Heap.warehouse(suite, r, env: Heap.budget(suite).merge(Heap.workers(w)), **words)
    end
    Heap.failures(report, found)
    report.note("JRuby is not installed here.") if suite.absent.include?("JRuby")
    report.table(["runtime", "workers", "transactions/s", "us of processor each", "highest MB", "collections", "stood still s"], items.map do |i|
      runs = found[i]
      name = %w[default off].include?(i[0].name) ? "kumi, #{i[0].name}" : i[0].name
      [name, i[0].cruby? ? "-" : i[1].to_s, Bench.figure(Heap.median(runs, &:tps)),
       (v = Heap.median(runs) { |r| r.cpu && r.cpu / (number * 2) * 1e6 }) ? format("%.1f", v) : "-",
       Bench.mb(Heap.median(runs, &:memory)), Bench.figure(Heap.median(runs, &:stops)), (s = Heap.median(runs, &:stopped)) && format("%.4f", s)]
    end)
    ruby = suite.rubies.first
    a = Heap.median(found[[runtimes[1], 2]], &:tps)
    b = ruby && Heap.median(found[[ruby, 2]], &:tps)
    report.bound("throughput of off over CRuby's", a && b && a / b, 1, "x", least: true)
    rows = items.filter_map { |i| (v = Heap.median(found[i], &:tps)) && ["#{i[0].name}, #{i[1]}", [[v]]] }
    report.plot("peers.svg", "Peers", Plot.bars("Two warehouses", y: "transactions per second", names: ["transactions/s"], rows: rows), "Higher is better. The number behind a name is that of its workers; compare one with one and two with two. All serve the same transactions and print the same checksum.") unless rows.empty?
    report.data["peers"] = found.map { |(r, w), runs| { runtime: r.name, workers: w, runs: runs.map { |x| x.is_a?(String) ? x : x.raw } } }
  end

  experiment "alloc", "what making an object costs, by kind" do |suite, report|
    n = suite.quick ? 200_000 : 1_000_000
    report.section("Allocation", "`programs/alloc.rb #{n} THREADS`: nanoseconds per object that nobody keeps, the loop's own taken off, collections included; with two threads on two workers both make as many.")
    modes = [Heap.default(suite), Heap.off(suite)]
    items = modes.flat_map { |m| [[m, 1], [m, 2]] } + [*suite.rubies, *suite.peers.select { |p| p.name == "JRuby" }].map { |r| [r, 1] }
    found = suite.rounds(items) do |(r, t), _|
      result = suite.run(r, "alloc", n, t, env: Heap.workers(2), timeout: 300)
      raise Child::Failed, result.why unless result.ok?
      result.out.lines.to_h { |l| ns, kind = l.chomp.split(" ", 2); [kind, ns.to_f] }
    end
    Heap.failures(report, found)
    kinds = found.values.flatten.grep(Hash).first&.keys || []
    report.table(["ns", *items.map { |r, t| "#{%w[default off].include?(r.name) ? "kumi, " : ""}#{r.name}#{t == 2 ? ", 2 threads" : ""}" }], kinds.map do |k|
      [k, *items.map { |i| Bench.figure(Heap.median(found[i]) { |h| h[k] }) }]
    end)
    bars = kinds.drop(1).map { |k| [k, items.map { |i| (v = Heap.median(found[i]) { |h| h[k] }) && [v] }] }
    names = items.map { |r, t| "#{r.name}#{t == 2 ? ", 2 threads" : ""}" }
    report.plot("alloc.svg", "Allocation", Plot.bars("What making an object costs", y: "ns an object", names: names, rows: bars), "Lower is better. The loop's own time is taken off and collections are counted in. Compare within a group; with two threads both make as many, so equal bars scale perfectly.") unless bars.empty?
    report.data["alloc"] = found.map { |(r, t), runs| { runtime: r.name, threads: t, runs: runs } }
  end
end
