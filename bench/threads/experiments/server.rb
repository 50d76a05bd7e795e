# An echo server with a thread for each of as many idle connections as the limit of open files allows.
module Bench
  experiment "server", "an idle echo server with as many connections as file limits allow" do |suite, report|
    limit = Process.getrlimit(:NOFILE)[1]
    most = [limit - 100, 100_000].min
    n = suite.quick ? [most, 1000].min : most
    report.section("Idle echo server", <<~TEXT)
      `programs/echo_server.rb` with a thread for each connection and `programs/echo_client.c` with #{Bench.figure(n)} connections (limit of open files: #{Bench.figure(limit)}).
      Each has sent a line and had it back. Resident bytes per connection, seconds until all were open and answered, nanoseconds for one more
      round trip on each connection in turn, processor time while idle.
    TEXT
    client = suite.c_program("echo_client")
    next report.note("Not measured: no C compiler for the client.") unless client
    runtimes = suite.runtimes("echo_server")
    found = suite.rounds(runtimes, reps: suite.quick ? 1 : [suite.reps, 3].min) do |r, _|
      server = suite.start(r, "echo_server", "serve", env: {})
      guest = nil
      begin
        port = server.line(timeout: 20)
        sleep 0.5
        before = server.memory("VmRSS")
        guest = suite.start_command([client, port, n.to_s])
        opened = guest.line(timeout: 300).split[1].to_f
        sleep 1
        after = server.memory("VmRSS")
        cpu = server.cpu
        sleep 2
        idle = (server.cpu - cpu) / 2 * 100
        guest.say("again")
        again = guest.line(timeout: 300).split[1].to_f
        [(after - before) / n.to_f, opened, again, idle]
      ensure
        # Who closes first keeps a connection's port for a minute: the server has one, the client would soon have none left.
        server.kill
        guest&.kill
      end
    end
    found = found.transform_values { |l| suite.best(l) }
    own = found[suite.kumi]
    report.table(["echo server", "B/connection", "of kumi's", "open s", "ns per echo", "idle % of a core"], runtimes.map do |r|
      v = found[r]
      next [r.name, v] unless v.is_a?(Array)
      [r.name, Bench.figure(v[0]), own.is_a?(Array) ? Bench.times(v[0], own[0]) : "-", format("%.2f", v[1]), Bench.figure(v[2]), format("%.2f", v[3])]
    end)
    report.data["server"] = { connections: n, results: found.map { |r, v| { runtime: r.name, result: v } } }
  end
end
