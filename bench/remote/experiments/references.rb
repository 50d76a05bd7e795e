# What references cost: made, brought and dropped, and how long a chain of them over several nodes takes to go.
module Bench
  experiment "references", "references exported, imported and dropped a second; what is said for each that is dropped" do |suite, report|
    n = suite.quick ? 1000 : 20_000
    rounds = suite.quick ? 3 : 11
    report.section("References", <<~TEXT)
      A call gives #{Bench.figure(n)} new objects of the other node. They are held, then dropped, and collected by one `GC.start`. Medians of #{rounds} rounds.
      Dropped: from the drop until the other node has released them. Messages and bytes are those of both nodes' tables from the drop on.
    TEXT
    Cluster.open(suite) do |cluster|
      cluster.node("east", "owner").ready
      client = cluster.node("west", "client", "east", await: 2).ready
      client.ask("references", n)
      made, dropped, messages, bytes = suite.medians(Array.new(rounds) { client.ask("references", n) })
      rows = { "exported, brought and imported a second" => 1e9 / made, "dropped and released a second" => 1e9 / dropped,
               "messages for each that is dropped" => messages, "bytes for each that is dropped" => bytes }
      report.table(["", ""], rows.map { |name, v| [name, Bench.figure(v)] })
      report.data["references"] = rows
    end
  end

  experiment "chain", "time until a chain over 2 to 8 nodes is gone" do |suite, report|
    rounds = suite.quick ? 2 : 5
    lengths = suite.quick ? [2, 4] : [2, 4, 8]
    report.section("A chain over several nodes", <<~TEXT)
      Each node's object holds the next node's; the first node lets go, and collects. Milliseconds until the last node's object is released,
      medians of #{rounds} rounds. A node notices by itself what died there, twice a second at most.
    TEXT
    Cluster.open(suite) do |cluster|
      names = Array.new(lengths.max) { |i| "n#{i + 1}" }
      parties = names.map { |name| cluster.node(name, "link", await: name == "n1" ? nil : 2).ready }
      parties.each { |p| p.ask("meet", names.size) }
      times = lengths.to_h { |length| [length, Array.new(rounds) { chain(parties.first(length), names) }] }
      report.table(%w[nodes ms], times.map { |length, ms| [length.to_s, Bench.figure(Stats.median(ms))] })
      report.data["chain"] = times
    end
  end

  def self.chain(parties, names)
    last = parties.size - 1
    last.downto(1) { |i| parties[i].ask("hold", i == last ? "-" : names[i + 1]) }
    parties[0].ask("keep", names[1])
    from = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    parties[0].ask("drop")
    until parties[last].ask("held")[0].zero?
      raise Child::Failed, "the chain is there after a minute: #{parties.map { |p| p.ask("held")[0] }}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) - from > 60
      sleep 0.005
    end
    (Process.clock_gettime(Process::CLOCK_MONOTONIC) - from) * 1000
  end
end
