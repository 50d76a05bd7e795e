# Segments in a store on Redis beside the server's own commands.
module Bench
  experiment "redis", "put, take in a durable store on Redis, beside the bare commands; a commit beside a script that does nothing" do |suite, report|
    n = suite.quick ? 200 : 1000
    rounds = suite.quick ? 5 : 21
    report.section("A store on Redis", <<~TEXT)
      One server with `appendonly yes`, `appendfsync always`, over a Unix socket; 64 bytes, a closed loop of one client, in #{rounds} rounds of #{Bench.figure(n)} one after the other. Microseconds by the
      client's clock: medians of the rounds' medians and 99th percentiles; ratios in pairs of one round. put is on the disk when it returns. take is of a segment that is there, and
      returns when the server has confirmed that it is gone: two round trips, as BLMOVE and LREM are. The bare commands are a C client's (`programs/redis_client.c`), which also runs the store's own
      script for a commit (two leases end, two segments are put) and one that does nothing, on a second server that writes nothing to its disk: there the script is all that is measured.
    TEXT
    program = suite.c_program("redis_client")
    next report.note("Redis or a C compiler is not here.") unless suite.redis && program
    Cluster.open(suite) do |cluster|
      start = lambda do |name, *options|
        folder = File.join(suite.work, name)
        FileUtils.mkdir_p(folder)
        socket = File.join(folder, "s")
        server = cluster.party(name, [suite.redis, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder, *options])
        [socket, server]
      end
      durable, server = start.("durable", "--appendonly", "yes", "--appendfsync", "always")
      memory, other = start.("memory", "--appendonly", "no")
      scripts = File.expand_path("../../../crates/redis/src/script", __dir__)
      bare = cluster.party("redis_client", [program, durable, scripts]).ready
      scripted = cluster.party("redis_client of scripts", [program, memory, scripts]).ready
      client = cluster.party("kumi", suite.argv(suite.kumi, "redis_client", "unix:#{durable}")).ready
      turns = [["kumi put", client, "put"], ["kumi take", client, "take"], ["Redis RPUSH", bare, "put"], ["Redis BLMOVE, LREM", bare, "taken"]]
      turns = turns.map { |name, party, op| Turn.new(name, party, [op, 64], n, [server, party]) }
      turns += [["a script that does nothing", "null"], ["a commit of two and two", "commit"]].map { |name, op| Turn.new(name, scripted, [op, 64], n * 5, [other, scripted]) }
      found = Bench.take_turns(suite, turns, rounds)
      rows = turns.map do |t|
        next [t.name, found[t.name].grep(String).first] if found[t.name].any?(String)
        v = suite.medians(found[t.name])
        [t.name, Bench.us(v[0]), Bench.us(v[1]), Bench.us(v[3])]
      end
      report.table(["us", "50 %", "99 %", "processor us"], rows)
      report.bound("a durable put over RPUSH", Bench.over(found, "kumi put", "Redis RPUSH"), 1.15, "x")
      report.bound("a durable take over BLMOVE and LREM", Bench.over(found, "kumi take", "Redis BLMOVE, LREM"), 1.3, "x")
      report.bound("a commit of two inputs and two outputs over a script that does nothing", Bench.over(found, "a commit of two and two", "a script that does nothing"), 1.5, "x")
      sockets, ms = client.ask("waiters", 64, 10_000, timeout: 120)
      report.note("10,000 threads that wait in `take`, each under a key of its own: #{sockets.to_i} sockets in the process; all were served within #{Bench.figure(ms)} ms.")
      report.bound("sockets of a program with 10,000 waiters", sockets, 2, "")
      report.data["redis"] = found.map { |name, v| { turn: name, ns: v } }
    end
  end
end
