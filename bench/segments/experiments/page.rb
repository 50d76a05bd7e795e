# What it costs to look at a node.
require "socket"
module Bench
  experiment "page", "processor time of a node whose page is open, or that `kumi top` shows" do |suite, report|
    keys, rate, seconds = 100_000, 10_000, suite.quick ? 5 : 20
    rounds = suite.quick ? 3 : 5
    report.section("Who looks at a node", <<~TEXT)
      A node with #{keys} keys does #{rate} operations a second (`programs/page.rb`). alone: nobody looks. page: one browser's stream of events is read. top: `kumi top` shows it, redrawing once a second. Processor
      time in hundredths of a core over #{seconds} s, medians of #{rounds} interleaved rounds.
    TEXT
    Cluster.open(suite) do |cluster|
      port, token = cluster.free_port, "a-token-of-the-bench"
      argv = [*suite.kumi.command, "node", "east", "--listen", "127.0.0.1:#{cluster.free_port}", "--web", "127.0.0.1:#{port}", "--web-token", token]
      node = cluster.party("node", [*argv, File.join(suite.programs, "page.rb"), keys.to_s, rate.to_s]).ready
      watched = lambda do |other = nil|
        from = [node.cpu, other ? Bench.cpu_of(other) : 0.0]
        sleep seconds
        [node.cpu - from[0], other ? Bench.cpu_of(other) - from[1] : 0.0].map { |s| s * 100 / seconds }
      end
      found = suite.rounds(%w[alone page top], reps: rounds) do |who, _|
        case who
        when "alone" then watched.()
        when "page"
          bytes = [0]
          stream = Thread.new { Bench.read_events(port, token, bytes) }
          sleep 1
          figures = watched.()
          stream.kill
          raise Child::Failed, "the page told #{bytes[0]} bytes" if bytes[0] < 1000 * seconds
          figures
        else
          # Redrawing is for a terminal.
          top = [*suite.kumi.command, "top", "127.0.0.1:#{port}", "--token", token].join(" ")
          terminal = suite.start_command([suite.tool("script") || raise(Child::Failed, "there is no script (util-linux)"), "-qfec", "exec #{top}", File::NULL])
          sleep 1
          watched.(Integer(File.read("/proc/#{terminal.pid}/task/#{terminal.pid}/children").split.first)).tap { terminal.kill }
        end
      end
      alone = found["alone"]
      rows = %w[alone page top].map { |who| suite.medians(found[who]).then { |v| [who, format("%.2f", v[0]), who == "top" ? format("%.2f", v[1]) : ""] } }
      report.table(["% of a core", "the node", "kumi top"], rows)
      report.bound("a page that is open, % of a core", Stats.median(found["page"].zip(alone).map { |a, b| a[0] - b[0] }), 2, "%")
      report.bound("kumi top and what it asks for, % of a core", Stats.median(found["top"].zip(alone).map { |a, b| a[0] - b[0] + a[1] }), 2, "%")
      report.data["page"] = found
    end
  end

  # Reads a page's stream of events, until the thread is ended.
  def self.read_events(port, token, bytes)
    TCPSocket.open("127.0.0.1", port) do |s|
      s.write("GET /events?part= HTTP/1.1\r\nHost: 127.0.0.1:#{port}\r\nAuthorization: Bearer #{token}\r\n\r\n")
      loop { bytes[0] += s.readpartial(1 << 16).bytesize }
    end
  end
end
