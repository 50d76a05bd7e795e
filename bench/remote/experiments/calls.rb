# Calls of an object of another node over loopback TCP, beside Erlang and DRb.
module Bench
  # What one party does: the row's name, who is asked, its words.
  Turn = Struct.new(:name, :party, :words)

  experiment "calls", "a call with an Integer, many at a time, and one on the same node, beside Erlang and DRb" do |suite, report|
    n = suite.quick ? 500 : 2000
    rounds = suite.quick ? 5 : 21
    report.section("Calls of another node's object", <<~TEXT)
      Loopback TCP; an Integer there, the next one back. A closed loop of one client, in #{rounds} rounds of #{Bench.figure(n)} (DRb a tenth), one party after the other.
      Microseconds by the client's clock: medians of the rounds' medians and 99th percentiles; ratios in pairs of one round to Erlang's `erpc:call`.
    TEXT
    Cluster.open(suite) do |cluster|
      cluster.node("east", "owner").ready
      client = cluster.node("west", "client", "east", await: 2).ready
      beam = drb = nil
      turns = [Turn.new("kumi call", client, ["call", n])]
      if suite.peers.any? { |r| r.kind == "erl" }
        cluster.beam("owner", "owner", "x", first: true).ready
        beam = cluster.beam("client", "client", "owner@127.0.0.1", first: false).ready
        turns << Turn.new("BEAM erpc", beam, ["call", n]) << Turn.new("BEAM send, receive", beam, ["ask", n])
      end
      if (ruby = suite.rubies.first)
        served = cluster.party("DRb", suite.argv(ruby, "drb_owner"))
        uri = served.child.line(timeout: 60).split[1]
        drb = cluster.party("drb_client", suite.argv(ruby, "drb_client", uri)).ready
        turns << Turn.new("DRb call", drb, ["call", n / 10])
      end
      found = suite.rounds(turns, reps: rounds + 1) { |t, _| t.party.ask(*t.words) }.to_h { |t, list| [t.name, list.drop(1)] }
      over = lambda do |one, other|
        a, b = found[one], found[other]
        Stats.median(a.zip(b).map { |x, y| x[0] / y[0] }) if a&.all?(Array) && b&.all?(Array)
      end
      us = ->(ns) { Bench.figure(ns / 1000.0) }
      rows = turns.map do |t|
        v = suite.medians(found[t.name])
        [t.name, us.(v[0]), us.(v[1]), (r = over.(t.name, "BEAM erpc")) && format("%.2fx", r)]
      end
      report.table(["us", "50 %", "99 %", "of erpc's"], rows)
      report.bound("a call over Erlang's erpc (aim 0.8)", over.("kumi call", "BEAM erpc"), 1.2, "x")
      report.bound("the same over DRb's", over.("kumi call", "DRb call"), 0.25, "x")

      report.section("Many at a time", "Calls a second of one client, over one connection but for DRb; medians of #{rounds} rounds, one party after the other.")
      many = suite.quick ? 10_000 : 100_000
      few = many / 20
      turns = [Turn.new("kumi, futures", client, ["futures", many]), Turn.new("kumi, 64 threads", client, ["threads", many, 64])]
      turns += [Turn.new("BEAM, erpc's requests", beam, ["calls", few]), Turn.new("BEAM, messages", beam, ["asks", many])] if beam
      turns << Turn.new("DRb, 8 threads", drb, ["threads", few, 8]) if drb
      turns << Turn.new("kumi, an object of the same node", client, ["local", many])
      many_found = suite.rounds(turns, reps: rounds + 1) { |t, _| t.party.ask(*t.words) }.to_h { |t, list| [t.name, list.drop(1)] }
      ns = turns.to_h { |t| [t.name, suite.medians(many_found[t.name])] }
      report.table(["", "under way", "a second"], turns.map { |t| [t.name, Bench.figure(t.words[2] || t.words[1]), (v = ns[t.name]).is_a?(String) ? v : Bench.figure(1e9 / v[0])] })
      report.bound("pipelined calls a second", 1e9 / ns["kumi, futures"][0], 150_000, "", least: true)
      report.bound("ns of a call to an object of the same node", ns["kumi, an object of the same node"][0], 300, "")
      report.say "", "gRPC is not measured: none of its runtimes is sought here."

      held = suite.quick ? 10_000 : 100_000
      report.section("All waiting", "#{Bench.figure(held)} calls of one client that all wait there until the last one does; then all are answered.")
      waits = suite.medians(Array.new(3) { client.ask("waits", held, timeout: 120) })
      report.table(["", ""], ["seconds until all wait", "seconds until all are answered", "MB of the caller", "MB of the other node"].zip(
        waits.each_with_index.map { |v, i| Bench.figure(i < 2 ? v / 1e9 : v) }))
      report.data["calls"] = (found.merge(many_found)).map { |name, v| { turn: name, ns: v } }
    end
  end
end
