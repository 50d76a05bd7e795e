# An hour of peers that send garbage, stop halfway or never read.
module Bench
  experiment "hostile", "an hour (--minutes X) of peers that send garbage, stop halfway or never read", long: true do |suite, report|
    minutes = suite.options[:minutes] || (suite.quick ? 1.0 : 60.0)
    rate = 50
    report.section("Hostile peers", <<~TEXT)
      #{Bench.figure(minutes)} minutes of `programs/hostile.rb`, #{rate} connections a second: random bytes; what a node said, cut off somewhere; a frame that never ends; not a word; all that a node said, no answer read; up to 200 of them are held open. A second
      node asks for 1 MB by 16 threads and is stopped (SIGSTOP) before it has read; it goes on for a fifth of a second in ten. Beside them a client peeks at 64 bytes. Microseconds of the client alone
      and beside, medians of the samples' (1,000 peeks each, a second between them); alone before them or after them, whichever was quicker; resident MB of the owner.
    TEXT
    ruby = suite.rubies.first || suite.kumi
    Cluster.open(suite) do |cluster|
      owner, client = Bench.pair(cluster)
      port = cluster.join[/\d+\z/]
      hostile = cluster.party("hostile", suite.argv(ruby, "hostile")).ready
      proxy = "127.0.0.1:#{hostile.ask("listen", port)[0].to_i}"
      spy = cluster.node("spy", "remote_client", Cluster::OWNER, await: 3, join: proxy).ready
      100.times { spy.ask("peek", 64, 10) }
      slow = cluster.node("slow", "remote_client", Cluster::OWNER, await: 4, env: ONE).ready
      owner.ask("put", "large", 1 << 20)
      # A client that has slept is slower at first: all samples are taken at the same pace.
      sample = lambda do
        sleep 1
        client.ask("peek", 64, 1000)
      end
      samples = suite.quick ? 5 : 40
      alone = [Array.new(samples) { sample.() }]
      memory = [owner.child.memory("VmRSS")]
      hostile.ask("attack", port, rate)
      beside = []
      from = Bench.now
      turn = from
      until Bench.now - from > minutes * 60
        if Bench.now > turn
          Process.kill(:CONT, slow.child.pid)
          slow.child.say("drown large 16")
          sleep 0.2
          Process.kill(:STOP, slow.child.pid)
          turn += 10
        end
        beside << sample.()
        memory << owner.child.memory("VmRSS")
        suite.progress "#{((Bench.now - from) / 60).round} of #{minutes} minutes"
      end
      suite.progress nil
      connections = hostile.ask("rest")[0]
      alone << Array.new(samples) { sample.() }
      a, b = alone.map { |s| suite.medians(s) }.min_by { |m| m[1] }, suite.medians(beside)
      report.table(["us", "50 %", "99 %"], [["alone", Bench.us(a[0]), Bench.us(a[1])], ["beside #{Bench.figure(connections)} hostile connections", Bench.us(b[0]), Bench.us(b[1])]])
      tenths = memory.each_slice([memory.size / 10, 1].max).map(&:max)
      report.table(["owner's memory", "before", *tenths.each_index.map { |i| "#{i + 1}/#{tenths.size}" }], [["MB, highest", Bench.mb(memory[0]), *tenths.map { |m| Bench.mb(m) }]])
      half = tenths.size / 2
      report.bound("memory under hostile peers, highest of the second half over that of the first", half.positive? ? tenths[half..].max / tenths[0...half].max.to_f : nil, 1.05, "x")
      report.bound("99 % of a client beside hostile peers over alone", b[1] / a[1], 1.5, "x")
      report.data["hostile"] = { minutes: minutes, connections: connections, alone: alone, beside: beside, memory: memory }
    end
  end
end
