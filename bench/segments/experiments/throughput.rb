# How much goes through: one node, two, and what an operation costs in processor time with up to eight; the ring.
module Bench
  # Puts by many threads, or by one put_all, emptied in between: [ns a put, MB/s, processor ns a put].
  def self.flood(owner, clients, bytes, n, threads)
    before = [owner, *clients].uniq.sum(&:cpu)
    words = threads ? ["flood", bytes, n, threads] : ["pipeline", bytes, n]
    asked = clients.map { |c| Thread.new { c.ask(*words) } }
    ns = asked.map { |t| t.value[0] }.max / clients.size
    cpu = ([owner, *clients].uniq.sum(&:cpu) - before) * 1e9 / (n * clients.size)
    clients == [owner] ? owner.ask("empty", bytes, n) : owner.ask("clear", "q")
    [ns, bytes * 1000.0 / ns, cpu]
  end

  experiment "throughput", "puts by many threads on one node and to another, 64 B to 1 MB; processor time of one with up to 8 nodes" do |suite, report|
    rounds = suite.quick ? 3 : 9
    threads = ->(bytes) { bytes < 100_000 ? 64 : 8 }
    report.section("Throughput", <<~TEXT)
      `programs/remote_client.rb flood`: 64 threads (8 from 256 KB on) put, each in a closed loop, at most 64 MB in all; the queue is emptied between rounds. One node: into its own manager, where a pointer moves; two: into another's. Medians of #{rounds} interleaved
      rounds; processor time of both processes. put_all: one call of one thread, which has up to 512 puts under way.
    TEXT
    sizes = suite.quick ? [64, 16_384, 1 << 20] : [64, 1024, 16_384, 262_144, 1 << 20]
    count = ->(bytes) { [(64 << 20) / bytes, suite.quick ? 20_000 : 100_000].min / 64 * 64 }
    Cluster.open(suite) do |cluster|
      Cluster.open(suite) do |lone|
        own = lone.node("alone", "remote_client", "alone").ready
        owner, client = Bench.pair(cluster)
        items = sizes.product([["1 node", own, own], ["2 nodes", owner, client], ["put_all", owner, client]])
        flood = ->(bytes, name, who, from) { Bench.flood(who, [from], bytes, count.(bytes), name == "put_all" ? nil : threads.(bytes)) }
        # The first round warms up.
        found = suite.rounds(items, reps: rounds + 1) { |(bytes, (name, who, from)), _| flood.(bytes, name, who, from) }
        found = found.to_h { |(bytes, (name, *)), list| [[bytes, name], suite.medians(list.size > 1 ? list.drop(1) : list)] }
        rows = sizes.map do |bytes|
          one, two, all = found[[bytes, "1 node"]], found[[bytes, "2 nodes"]], found[[bytes, "put_all"]]
          [Bench.figure(bytes), *(one.is_a?(Array) ? [Bench.figure(1e9 / one[0]), Bench.us(one[2])] : [one, nil]),
           *(two.is_a?(Array) ? [Bench.figure(1e9 / two[0]), Bench.figure(two[1]), Bench.us(two[2])] : [two, nil, nil]),
           *(all.is_a?(Array) ? [Bench.figure(1e9 / all[0]), Bench.figure(all[1]), Bench.us(all[2])] : [all])]
        end
        report.table(["bytes", "1 node, puts/s", "processor us", "2 nodes, puts/s", "MB/s", "processor us", "put_all, puts/s", "MB/s", "processor us"], rows)
        large = found[[1 << 20, "2 nodes"]]
        { "put_all" => "put_all", "2 nodes" => "64 threads" }.each do |name, words|
          small = found[[64, name]]
          report.bound("remote puts of 64 B a second, pipelined by #{words}", small.is_a?(Array) ? 1e9 / small[0] : nil, 200_000, "", least: true)
        end
        report.bound("remote puts of 1 MB", large.is_a?(Array) ? large[1] : nil, 1000, "MB/s", least: true)
        report.data["throughput"] = found.map { |(bytes, name), v| { bytes: bytes, nodes: name, figures: v } }
      end
    end
    counts = [2, 4, 8]
    rows = suite.rounds(counts, reps: [rounds / 3, 1].max) do |nodes, _|
      Cluster.open(suite) do |cluster|
        owner = cluster.node(Cluster::OWNER, "remote_owner", env: ONE).ready
        clients = Array.new(nodes - 1) { |i| cluster.node("west#{i}", "remote_client", Cluster::OWNER, await: i + 2, env: ONE).ready }
        Bench.flood(owner, clients, 64, count.(64) / 4, 16)
        Bench.flood(owner, clients, 64, count.(64), 16)
      end
    end.transform_values { |l| suite.medians(l) }
    report.note("One owner and the rest its clients, a worker each, 64 B, 16 threads a client; all puts together, and processor time of all processes for one:")
    report.table(["nodes", "puts/s", "processor us"], counts.map { |c| (v = rows[c]).is_a?(Array) ? [Bench.figure(c), Bench.figure(1e9 / v[0]), Bench.us(v[2])] : [Bench.figure(c), v] })
    report.data["nodes"] = rows
  end

  experiment "ring", "a message round a ring of 2 to 64 nodes: processor time of a hop" do |suite, report|
    report.section("Ring", <<~TEXT)
      `programs/ring.rb`: a node is a process with one worker, on this machine; what comes goes on to the right by an acknowledged put. Microseconds of a hop by the first node's clock, and processor time of all processes for a hop, less what
      the same nodes use in the same time when nothing goes round (membership). Beyond two nodes on two cores the hop shows the machine's switching; the processor time is what counts.
    TEXT
    counts = suite.quick ? [2, 8] : [2, 4, 8, 16, 32, 64]
    found = suite.rounds(counts, reps: suite.quick ? 1 : [suite.reps, 3].min) do |nodes, _|
      Cluster.open(suite) do |cluster|
        all = Array.new(nodes) { |i| cluster.node(format("n%02d", i), "ring", nodes, i.zero? ? "first" : "next", env: ONE) }
        all.each { |p| p.ready(timeout: 150) }
        laps = [(suite.quick ? 2_000 : 20_000) / nodes, 20].max
        all[0].ask("laps", 64, [laps / 10, 1].max)
        sleep 0.5
        quiet, at = all.sum(&:cpu), Bench.now
        sleep 1
        idle = (all.sum(&:cpu) - quiet) / (Bench.now - at)
        before, from = all.sum(&:cpu), Bench.now
        figures = all[0].ask("laps", 64, laps)
        taken = Bench.now - from
        used = all.sum(&:cpu) - before
        [figures[0], figures[1], (used - idle * taken) * 1e9 / (laps * nodes), idle / nodes * 1000]
      end
    end.transform_values { |l| suite.medians(l) }
    report.table(["nodes", "us a hop, 50 %", "99 %", "processor us a hop", "idle node, ms a second"], counts.map do |c|
      v = found[c]
      v.is_a?(Array) ? [Bench.figure(c), Bench.us(v[0]), Bench.us(v[1]), Bench.us(v[2]), Bench.figure(v[3])] : [Bench.figure(c), v]
    end)
    report.data["ring"] = found
  end
end
