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
      owner = cluster.node("east", "owner").ready
      client = cluster.node("west", "client", "east", await: 2).ready
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

      report.section("Many at a time", "One client; calls a second, medians of #{rounds} rounds.")
      many = suite.quick ? 10_000 : 100_000
      ways = { "futures, #{Bench.figure(many)} under way" => ["futures", many], "64 threads" => ["threads", many, 64], "of the same node, ns" => ["local", many] }
      figures = ways.to_h { |name, words| [name, Stats.median(Array.new(rounds) { client.ask(*words)[0] })] }
      report.table(["", ""], figures.map { |name, ns| [name, Bench.figure(name.end_with?("ns") ? ns : 1e9 / ns)] })
      report.bound("ns of a call to an object of the same node", figures["of the same node, ns"], 300, "")
      report.data["calls"] = found.map { |name, v| { turn: name, ns: v } }
      owner
    end
  end
end
