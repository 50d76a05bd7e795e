# What tables cost in full collections.
module Bench
  experiment "tables", "full collections of a node with many exports and imports, beside one that has as many objects of its own" do |suite, report|
    n = suite.quick ? 20_000 : 100_000
    rounds = suite.quick ? 5 : 25
    report.section("Full collections", <<~TEXT)
      A node with #{Bench.figure(n)} objects that only another node holds and #{Bench.figure(n)} references to that one's objects; and one with #{Bench.figure(2 * n)} objects of
      its own. Pauses of full collections by `GC.latest_gc_info`, in #{rounds} rounds of 9 each in turns: medians of the rounds' medians, ratios in pairs of one round.
    TEXT
    Cluster.open(suite) do |cluster|
      cluster.node("east", "tables").ready
      one = cluster.node("west", "tables", "east", await: 2).ready
      other = cluster.node("south", "tables", await: 3).ready
      tables = one.ask("exchange", n)
      other.ask("hold", n)
      pairs = Array.new(rounds + 1) { [one, other].map { |party| Stats.median(party.ask("full", 9)) } }.drop(1)
      ms = ->(side) { Bench.figure(Stats.median(pairs.map { |p| p[side] }) / 1e6) }
      report.table(["", "exports", "imports", "ms"], [["with", *tables.map { |x| Bench.figure(x) }, ms[0]], ["without", 0, 0, ms[1]]])
      report.bound("a full collection with tables over one without", Stats.median(pairs.map { |a, b| a / b }), 1.15, "x")
      report.data["tables"] = pairs
    end
  end
end
