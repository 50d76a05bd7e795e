# What threads cost in resident memory, seen from outside: figure 7 and table 1 of the paper, and the
# same threads ten frames down.
module Bench
  # Starts a program that says "ready" and gives its resident memory then, its highest so far, its
  # resident memory one second later, and the seconds from "ready SECONDS".
  def self.resident(suite, runtime, program, *args, env: {}, timeout: 120)
    child = suite.start(runtime, program, *args, env: env)
    words = child.line(timeout: timeout).split
    raise Child::Failed, "said #{words.join(" ")}" unless words[0] == "ready"
    now = child.memory("VmRSS")
    high = child.memory("VmHWM")
    sleep 1
    later = child.memory("VmRSS")
    joined = yield(child) if block_given?
    [now, high, later, words[1].to_f, joined || 0.0]
  ensure
    child&.kill
  end

  experiment "memory", "figure 7 and table 1: memory of 0 to 10,000 (ours to 1,000,000) sleeping threads", steady: true do |suite, report|
    report.section("Sleeping threads (figure 7, table 1)", <<~TEXT)
      `programs/sleepers.rb N`: `(0...N).map { Thread.new { sleep } }`. Highest resident memory (VmHWM) when all sleep, in MB, and bytes
      per thread: the difference to no thread, by N. Steady is VmRSS one second later.
    TEXT
    steps = suite.quick ? [0, 2000, 10_000] : [0, 2000, 4000, 6000, 8000, 10_000]
    large = suite.quick ? [100_000] : [100_000, 1_000_000]
    runtimes = suite.runtimes("sleepers")
    items = (steps + large).flat_map do |n|
      runtimes.reject { |r| n > 10_000 && r.system_threads? }.map { |r| [r, n] }
    end
    found = suite.rounds(items) do |(r, n), _|
      Bench.resident(suite, r, "sleepers", n) do |child|
        child.say("join")
        child.line(timeout: 120).split[1].to_f
      end
    end
    found = found.transform_values { |l| suite.best(l) }
    cost = lambda do |r, n, k|
      a, b = found[[r, 0]], found[[r, n]]
      (b[k] - a[k]) / n.to_f if a.is_a?(Array) && b.is_a?(Array) && n > 0
    end
    rows = (steps + large).map do |n|
      [Bench.figure(n), *runtimes.flat_map { |r| v = found[[r, n]]; v.is_a?(Array) ? [Bench.mb(v[1]), Bench.figure(cost.(r, n, 1))] : [nil, nil] }]
    end
    report.table(["threads", *runtimes.flat_map { |r| ["#{r.name} MB", "B/thread"] }], rows)
    found.each { |(r, n), v| report.note("Failed: #{r.name}, #{n} threads: #{v}") if v.is_a?(String) }
    timed = (steps + large).last(large.size + 1).flat_map do |n|
      runtimes.filter_map { |r| v = found[[r, n]]; [r.name, Bench.figure(n), Bench.figure(cost.(r, n, 2)), format("%.3f", v[3]), format("%.3f", v[4])] if v.is_a?(Array) }
    end
    report.table(["runtime", "threads", "steady B/thread", "start s", "wake and join s"], timed)
    own = suite.kumi
    suite.rubies.each { |r| report.note("At 10,000 threads #{r.name} uses #{Bench.times(cost.(r, 10_000, 1), cost.(own, 10_000, 1))} kumi's bytes per thread.") if cost.(r, 10_000, 1) && cost.(own, 10_000, 1) }
    chart = Plot.new("Memory of sleeping threads", x: "threads", y: "highest resident memory, MB")
    runtimes.each { |r| chart.line(r.name, steps.filter_map { |n| v = found[[r, n]]; [n, v[1] / 1e6] if v.is_a?(Array) }) }
    report.plot("fig7-memory.svg", "Figure 7 / table 1", chart, "Lower is better. Compare slopes: a line's slope is what a thread costs, where it begins is what the process costs without any.") unless chart.empty?
    if (ruby = suite.rubies.first)
      ratio = ->(n) { (a = cost.(own, n, 1)) && (b = cost.(ruby, n, 1)) && b > 0 ? a / b : nil }
      told = steps.drop(1).select { |n| Paper::TABLE_1.key?(n) }
      report.note("Memory of the threads over #{ruby.name}'s, beside what table 1 has of its two methods over its CRuby 2.5:")
      report.table(["threads", "kumi / #{ruby.name}", *Paper::METHODS], told.map { |n| [Bench.figure(n), ratio.(n) && format("%.3f", ratio.(n)), *Paper.threads_over_base(n).map { |v| format("%.3f", v) }] })
      chart = Plot.new("Memory of sleeping threads over CRuby's", x: "threads", y: "memory over that of as many threads in CRuby")
      chart.line("kumi", told.filter_map { |n| (v = ratio.(n)) && [n, v] })
      Paper::METHODS.each_with_index { |name, i| chart.line(name, told.map { |n| [n, Paper.threads_over_base(n)[i]] }) }
      chart.mark("CRuby", 1.0)
      report.plot("table1-over-cruby.svg", "Table 1", chart, "Lower is better; 1 is CRuby. Each line divides by the CRuby of its own machine (the paper's: 2.5, ours: #{ruby.name}), so that levels can be compared where megabytes cannot.") unless chart.empty?
    end
    chart = Plot.new("Bytes per sleeping thread", x: "threads", y: "bytes per thread", x_scale: :log10, y_scale: :log10)
    runtimes.each { |r| chart.line(r.name, (steps + large).filter_map { |n| c = cost.(r, n, 1); [n, c] if c && c > 0 }) }
    chart.mark("1,000 B asked", 1000)
    report.plot("fig7-per-thread.svg", "Bytes per thread", chart, "Lower is better. A level line means that a thread costs the same however many there are; the dashed one is what was asked for.") unless chart.empty?
    report.bound("resident bytes per sleeping thread at 100,000", cost.(own, 100_000, 0), 1000, "B")
    unless suite.quick
      v = found[[own, 1_000_000]]
      report.bound("1,000,000 threads start, sleep and join (1: they do)", v.is_a?(Array) ? 1 : nil, 1, "", least: true)
    end
    report.data["memory"] = found.map { |(r, n), v| { runtime: r.name, threads: n, result: v } }
  end

  experiment "frames", "memory of threads that sleep ten frames down with captured variables", steady: true do |suite, report|
    report.section("Ten frames down, captured variables", <<~TEXT)
      `programs/deep_sleepers.rb N blocks|procs`: every thread sleeps ten calls down; each frame has a local that a block has captured
      (blocks), and keeps that block as a Proc (procs). Resident bytes per thread: difference to no thread, by N.
    TEXT
    n = suite.quick ? 20_000 : 100_000
    items = suite.runtimes("deep_sleepers").flat_map do |r|
      count = r.system_threads? ? 10_000 : n
      modes = r.kind == "rb" ? %w[blocks procs] : %w[blocks]
      modes.flat_map { |m| [[r, m, 0], [r, m, count]] }
    end
    found = suite.rounds(items) { |(r, m, k), _| Bench.resident(suite, r, "deep_sleepers", k, m) }
    found = found.transform_values { |l| suite.best(l) }
    rows = items.select { |i| i[2] > 0 }.map do |r, m, k|
      a, b = found[[r, m, 0]], found[[r, m, k]]
      next [r.name, m, Bench.figure(k), b.is_a?(String) ? b : a] unless a.is_a?(Array) && b.is_a?(Array)
      bytes = (b[0] - a[0]) / k.to_f
      report.bound("resident bytes per thread ten frames down, captured variables", bytes, 2500, "B") if r == suite.kumi && m == "blocks"
      [r.name, m, Bench.figure(k), Bench.figure(bytes)]
    end
    report.table(["runtime", "captured by", "threads", "B/thread"], rows)
    report.data["frames"] = rows
  end
end
