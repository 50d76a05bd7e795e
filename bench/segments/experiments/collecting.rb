# Does a node answer while it collects?
module Bench
  experiment "collecting", "a remote peek while the owner runs full collections back to back" do |suite, report|
    n = suite.quick ? 500 : 5000
    rounds = suite.quick ? 3 : 11
    megabytes = suite.quick ? 50 : 100
    report.section("A collecting owner", <<~TEXT)
      The owner runs `GC.start` again and again beside #{megabytes} MB of live objects, with `KUMI_GC_THREADS=1`, on one core (taskset); the client has the other. encoded: one value, peeked at before. frozen: each value is peeked at once and
      was never encoded: its key is not yet exported. Microseconds; medians of #{rounds} interleaved rounds, ratio of 99th percentiles in pairs.
    TEXT
    report.note("Not pinned: taskset is absent.") unless suite.tool("taskset")
    Cluster.open(suite) do |cluster|
      cores = suite.cores > 1 ? [0, 1] : [0, 0]
      owner, client = Bench.pair(cluster, env: { "KUMI_GC_THREADS" => "1" }, owner_core: cores[0], client_core: cores[1])
      serial = 0
      collections = []
      measure = lambda do |kind|
        words = ["peek", 64]
        if kind == "frozen"
          prefix = "f#{serial += 1}"
          owner.ask("frozen", prefix, n, 64)
          words = ["peeks", prefix]
        end
        client.ask(*words, n)
      end
      items = %w[encoded frozen].product(%w[idle collecting])
      found = suite.rounds(items, reps: rounds) do |(kind, state), _|
        next measure.(kind) if state == "idle"
        owner.ask("collect", megabytes)
        from = Bench.now
        begin
          measure.(kind)
        ensure
          collections << owner.ask("rest")[0] / (Bench.now - from)
        end
      end
      rows = %w[encoded frozen].map do |kind|
        a, b = found[[kind, "idle"]], found[[kind, "collecting"]]
        next [kind, (a + b).grep(String).first] if (a + b).any?(String)
        ratio = Stats.median(a.zip(b).map { |x, y| y[1] / x[1] })
        report.bound("99 % of a remote peek while the owner collects over idle, #{kind}", ratio, 2, "x")
        [kind, *[a, b].flat_map { |l| v = suite.medians(l); [Bench.us(v[0]), Bench.us(v[1])] }, format("%.2fx", ratio)]
      end
      report.table(["us", "idle, 50 %", "99 %", "collecting, 50 %", "99 %", "99 % / idle"], rows)
      report.note("#{Bench.figure(Stats.median(collections))} collections a second meanwhile.") unless collections.empty?
      report.data["collecting"] = found.map { |(kind, state), v| { value: kind, state: state, ns: v } }
    end
  end
end
