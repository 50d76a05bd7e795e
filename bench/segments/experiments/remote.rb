# Segments of another node over loopback TCP, beside Erlang, Redis, DRb and Rinda.
module Bench
  # What one party does in turn: row's name, party that is asked, its words, operations, and the processes whose processor time counts.
  # What a take takes is put before, and what a put leaves is emptied after, beside the figures.
  Turn = Struct.new(:name, :party, :words, :count, :processes) do
    # p50, p99, mean of each, all in ns, and processor ns of one.
    def measure
      party.ask("fill", words[1], count) if takes?
      before = processes.sum(&:cpu)
      figures = party.ask(*words, count)
      used = processes.sum(&:cpu) - before
      party.ask("empty", words[1], count) if puts?
      [*figures.first(3), used * 1e9 / count]
    end

    def takes? = words[0].start_with?("take")
    def puts? = %w[put write].include?(words[0])
  end

  # Turns in interleaved rounds, after a round that warms up: { name => [[p50, p99, mean, cpu], ...] }; the list of a turn that failed
  # has the reason in it.
  def self.take_turns(suite, turns, rounds)
    suite.rounds(turns, reps: rounds + 1) { |t, _| t.measure }.to_h { |t, list| [t.name, list.size > 1 ? list.drop(1) : list] }
  end

  def self.us(ns) = ns.is_a?(Numeric) ? Bench.figure(ns / 1000.0) : ns

  # The median of the rounds' ratios of two turns' figures at `column`.
  def self.over(found, one, other, column = 0)
    a, b = found[one], found[other]
    return unless [a, b].all? { |l| l.is_a?(Array) && l.all?(Array) }
    Stats.median(a.zip(b).map { |x, y| x[column] / y[column] })
  end

  # Servers and clients of the peers that are there: turns, and what is not there.
  module Remote
    module_function

    def kumi(suite, cluster, n, env: {}, name: "kumi")
      owner, client = Bench.pair(cluster, env: env)
      %w[put take peek].map { |op| Turn.new("#{name} #{op}", client, [op, 64], n, [owner, client]) }
    end

    def ring(suite, cluster, n, env: {}, name: "kumi")
      nodes = Array.new(2) { |i| cluster.node("n#{i}", "ring", 2, i.zero? ? "first" : "next", await: 2, env: env) }
      nodes.each(&:ready)
      [["hop", "laps"], ["hop by code segments", "segments"]].map { |what, op| Turn.new("#{name} #{what}", nodes[0], [op, 64], n, nodes) }
    end

    def beam(suite, cluster, n)
      return [] unless suite.peers.any? { |r| r.kind == "erl" }
      owner = cluster.beam("owner", "remote_owner", "x", first: true).ready
      client = cluster.beam("client", "remote_client", "owner@127.0.0.1", first: false).ready
      [["BEAM send, receive", "echo"], ["BEAM send, ok", "accept"], ["BEAM erpc", "erpc"]].map { |name, op| Turn.new(name, client, [op, 64], n, [owner, client]) }
    end

    def redis(suite, cluster, n)
      program = suite.c_program("redis_client")
      return [] unless suite.redis && program
      port = cluster.free_port
      server = cluster.party("Redis", [suite.redis, "--port", port.to_s, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", suite.work])
      client = cluster.party("redis_client", [program, port.to_s]).ready
      [["Redis RPUSH", "put"], ["Redis BLMOVE", "take"], ["Redis BLMOVE, LREM", "taken"]].map { |name, op| Turn.new(name, client, [op, 64], n, [server, client]) }
    end

    def drb(suite, cluster, n)
      ruby = suite.rubies.first or return []
      owner = cluster.party("DRb", suite.argv(ruby, "drb_owner"))
      said = owner.child.line(timeout: 60).split
      raise Child::Failed, "DRb said #{said.join(" ")}" unless said[0] == "ready"
      client = cluster.party("drb_client", suite.argv(ruby, "drb_client", said[1])).ready
      [["DRb call", "call"], ["Rinda write", "write"], ["Rinda take", "take"]].map { |name, op| Turn.new(name, client, [op, 64], n / 10, [owner, client]) }
    end

    # The turns of a peer, or none and a note.
    def try(report, name)
      yield
    rescue Child::Failed, SystemCallError => e
      report.note("#{name} could not be measured: #{e.message}")
      []
    end
  end

  experiment "remote", "put, take, peek on another node and a hop of a ring, beside Erlang, Redis, DRb, Rinda" do |suite, report|
    n = suite.quick ? 500 : 2000
    rounds = suite.quick ? 3 : 21
    report.section("Another node", <<~TEXT)
      Loopback TCP, 64 bytes, a closed loop of one client; servers and clients of all are there all the time, and one after the other is asked, in #{rounds} rounds of #{Bench.figure(n)} (DRb and Rinda: a tenth).
      Microseconds by the client's clock: medians of the rounds' medians and 99th percentiles; ratios in pairs of one round to Erlang's send and receive (64 bytes there and back). Last, processor
      time of both processes, each operation. put is acknowledged; take is of a segment that is there. send, ok: 64 bytes there, `ok` back. A hop is half of a round through a ring of two; Erlang's
      is half of its round trip. kumi/1: owner and client with KUMI_WORKERS=1, else as many workers as cores. Redis keeps nothing on disk; its client is `programs/redis_client.c`.
    TEXT
    Cluster.open(suite) do |cluster|
      others = []
      more = -> { Cluster.new(suite).tap { |c| others << c } }
      turns = Remote.try(report, "kumi") { Remote.kumi(suite, cluster, n) }
      turns += Remote.try(report, "kumi with one worker") { Remote.kumi(suite, more.(), n, env: ONE, name: "kumi/1") }
      turns += Remote.try(report, "kumi's ring") { Remote.ring(suite, more.(), n) }
      turns += Remote.try(report, "kumi's ring with one worker") { Remote.ring(suite, more.(), n, env: ONE, name: "kumi/1") }
      turns += Remote.try(report, "BEAM") { Remote.beam(suite, cluster, n) }
      turns += Remote.try(report, "Redis") { Remote.redis(suite, cluster, n) }
      turns += Remote.try(report, "DRb") { Remote.drb(suite, cluster, n) }
      found = Bench.take_turns(suite, turns, rounds)
      bar = "BEAM send, receive"
      rows = turns.map do |t|
        next [t.name, found[t.name].grep(String).first] if found[t.name].any?(String)
        v = suite.medians(found[t.name])
        [t.name, Bench.us(v[0]), Bench.us(v[1]), (r = Bench.over(found, t.name, bar)) && format("%.2fx", r), Bench.us(v[3])]
      end
      report.table(["us", "50 %", "99 %", "of Erlang's", "processor us"], rows)
      { "put" => "an acknowledged remote put", "take" => "take of a present remote segment" }.each do |op, words|
        report.bound("#{words} over Erlang's send and receive (aim 0.8)", Bench.over(found, "kumi #{op}", bar), 1.2, "x")
        ["DRb call", "Rinda #{op == "put" ? "write" : "take"}"].each { |peer| report.bound("the same over #{peer}", Bench.over(found, "kumi #{op}", peer), 0.2, "x") }
      end
      report.bound("a hop of the two-node ring over Erlang's send and receive", Bench.over(found, "kumi hop", bar), 1.2, "x")
      hops = Bench.over(found, "kumi hop", bar)
      report.note("A hop over Erlang's (half of a round trip): #{format("%.2f", hops * 2)}x.") if hops
      report.data["remote"] = found.map { |name, v| { turn: name, ns: v } }
    ensure
      others.each(&:close)
    end
  end

  experiment "tls", "put, take, peek with certificates against plain" do |suite, report|
    n = suite.quick ? 500 : 2000
    rounds = suite.quick ? 3 : 21
    report.section("Mutual TLS", <<~TEXT)
      Two pairs of nodes, one with certificates (P-256, an authority of this run); 64 bytes and 1 MB, #{rounds} interleaved rounds; microseconds, ratios in pairs.
    TEXT
    Cluster.open(suite) do |plain|
      Cluster.open(suite, tls: true) do |secret|
        sizes = [[64, n], [1 << 20, [n / 40, 20].max]]
        turns = [["plain", plain], ["TLS", secret]].flat_map do |name, cluster|
          owner, client = Bench.pair(cluster)
          sizes.flat_map { |bytes, count| %w[put take peek].map { |op| Turn.new("#{name} #{op} #{bytes}", client, [op, bytes], count, [owner, client]) } }
        end
        found = Bench.take_turns(suite, turns, rounds)
        rows = sizes.map(&:first).product(%w[put take peek]).map do |bytes, op|
          a, b = found["plain #{op} #{bytes}"], found["TLS #{op} #{bytes}"]
          next ["#{op}, #{Bench.figure(bytes)} B", (a + b).grep(String).first] if (a + b).any?(String)
          a, b = suite.medians(a), suite.medians(b)
          ratio = Bench.over(found, "TLS #{op} #{bytes}", "plain #{op} #{bytes}")
          report.bound("TLS over plain, #{op} of #{Bench.figure(bytes)} B", ratio, 1.5, "x") if bytes == 64
          ["#{op}, #{Bench.figure(bytes)} B", Bench.us(a[0]), Bench.us(a[1]), Bench.us(b[0]), Bench.us(b[1]), format("%.2fx", ratio), Bench.us(a[3]), Bench.us(b[3])]
        end
        report.table(["us", "plain 50 %", "99 %", "TLS 50 %", "99 %", "TLS / plain", "processor, plain", "TLS"], rows)
        report.data["tls"] = found.map { |name, v| { turn: name, ns: v } }
      end
    end
  end

  experiment "beside", "a 64 B peek beside a 64 MB transfer" do |suite, report|
    n = suite.quick ? 2000 : 10_000
    rounds = suite.quick ? 3 : 11
    # With its frame, a value of 64 MiB is more than travels.
    bytes = 64_000_000
    report.section("Beside a transfer", <<~TEXT)
      The client peeks at 64 bytes while a thread of the same process, over the same connection, moves 64 MB again and again, ten times at least: down (peek) or up (update); microseconds, and MB/s of the transfer. by-another: another client
      moves them. Idle: nothing beside. The figures are medians of #{rounds} interleaved rounds; the ratio of 99th percentiles in pairs. With two cores client and owner have one each, and the transfer takes its part of both.
    TEXT
    Cluster.open(suite) do |cluster|
      _, client = Bench.pair(cluster)
      other = cluster.node("other", "remote_client", Cluster::OWNER, await: 3).ready
      modes = %w[idle down up down-by-another up-by-another]
      found = suite.rounds(modes, reps: rounds) do |mode, _|
        way, another = mode.split("-", 2)
        next client.ask("peek", 64, n) if mode == "idle"
        next client.ask("beside", way, bytes, n) unless another
        # The other's transfers go on for as long as its own peeks take.
        moving = Thread.new { other.ask("beside", way, bytes, n) }
        sleep 0.1
        [*client.ask("peek", 64, n), moving.value[3]]
      end
      rows = found.map do |name, list|
        next [name, list.grep(String).first] if list.any?(String)
        v = suite.medians(list)
        ratio = Bench.over(found, name, "idle", 1)
        report.bound("99 % of a 64 B peek beside 64 MB #{name} over idle", ratio, 3, "x") unless name == "idle" || name.include?("-")
        [name, Bench.us(v[0]), Bench.us(v[1]), format("%.2fx", ratio), Bench.figure(v[3])]
      end
      report.table(["us", "50 %", "99 %", "99 % / idle", "MB/s beside"], rows)
      report.data["beside"] = found
    end
  end
end
