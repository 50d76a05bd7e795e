# What a code segment costs: to start and run, and to wait.
module Bench
  experiment "code", "10,000 code segments with a local input, direct and staged (table 2); bytes of one that waits" do |suite, report|
    report.section("Code segments (table 2)", <<~TEXT)
      `programs/code.rb MODE 10000`: nanoseconds each, from the start of the first to the end of the last, best of the rounds in a process and of
      the processes. peek, take: one input. flip, put: what was taken goes on under another key. staged: three stages joined by queues, as the
      paper's before it dropped them, written in Ruby in the program; one stage: the same Ruby without queues and threads. What they
      show is their ratio. The paper's Java (12 cores, Xeon X5650): 753 without SEDA, 2,772 with.
    TEXT
    n = 10_000
    rounds = suite.quick ? 3 : 9
    modes = %w[peek take flip put one-stage staged]
    items = modes.product([[ONE, "1 worker"], [TWO, "2 workers"]])
    found = suite.rounds(items) { |(mode, (env, _)), _| suite.figures(suite.kumi, "code", mode, n, rounds, env: env) }
    found = found.transform_values { |l| suite.best(l) }
    ns = ->(mode, env) { (v = found[[mode, env]]).is_a?(Array) ? v[0] : nil }
    columns = items.map(&:last).uniq
    why = ->(mode) { columns.map { |c| v = found[[mode, c]]; v.is_a?(String) ? v : Bench.figure(v[0]) } }
    report.table(["ns each", *columns.map(&:last), "the paper's"], modes.map { |m| [m, *why.(m), Paper::TABLE_2[m] && Bench.figure(Paper::TABLE_2[m])] })
    ratios = columns.map { |c| (s = ns.("staged", c)) && (o = ns.("one-stage", c)) ? "#{Bench.times(s, o)} with #{c[1]}" : nil }.compact
    report.note("Staged over one stage: #{ratios.join(", ")} (the paper: #{format("%.2f", Paper::STAGED)}x).") unless ratios.empty?
    rows = columns.filter_map { |c| (s = ns.("staged", c)) && (o = ns.("one-stage", c)) && [c[1], [[s / o], [Paper::STAGED]]] }
    report.plot("table2-stages.svg", "Table 2", Plot.bars("Three stages over one", y: "time over that without stages", names: ["kumi", "paper"], rows: rows, bounds: [["no difference", 1.0]]),
                "What three stages joined by queues cost: 1 would be nothing. Ours is a staged variant written in Ruby over the same Ruby without stages, for the runtime itself has none; the paper's is its framework before and after.") unless rows.empty?
    report.bound("a code segment with a local peek, of 10,000", columns.filter_map { |c| ns.("peek", c) }.min, 750, "ns")
    report.data["code"] = found.map { |(mode, (_, words)), v| { mode: mode, workers: words, ns: v } }
  end

  # Resident bytes of a program that has said "ready".
  def self.settled(suite, program, *args)
    child = suite.start(suite.kumi, program, *args)
    child.line(timeout: 120)
    sleep 1
    [child.memory("VmRSS")]
  ensure
    child&.kill
  end

  experiment "waiting", "bytes of a code segment that waits" do |suite, report|
    n = 100_000
    report.section("Waiting code segments", <<~TEXT)
      `programs/waiting.rb #{n} MODE`: resident bytes (VmRSS, from outside, a second after all wait) over those of none, each. one: all under one key; own:
      each under a key of its own; block: `Kumihimo::Segments.when`; thread: a thread that waits in `take`.
    TEXT
    modes = %w[one own block thread]
    items = modes.flat_map { |m| [[m, 0], [m, n]] }
    found = suite.rounds(items) { |(mode, count), _| Bench.settled(suite, "waiting", count, mode) }
    found = found.transform_values { |l| suite.medians(l) }
    bytes = lambda do |mode|
      none, all = found[[mode, 0]], found[[mode, n]]
      [none, all].find { |v| v.is_a?(String) } || (all[0] - none[0]) / n.to_f
    end
    report.table(["waits", "B each"], modes.map { |m| [m, Bench.figure(bytes.(m))] })
    own = bytes.("one")
    report.bound("a waiting code segment", own.is_a?(Numeric) ? own : nil, 800, "B")
    report.data["waiting"] = modes.map { |m| { mode: m, bytes: bytes.(m) } }
  end

  experiment "waiters", "take of a present segment beside 10 and 100,000 waiters on other keys" do |suite, report|
    report.section("Many waiters", <<~TEXT)
      `programs/waiters.rb N`: nanoseconds of a take of a present segment, two readings of the clock included, while N code segments wait under keys of
      their own. By the key's object, and by name under a thousand keys in turn. The last columns are the readings of the clock alone.
    TEXT
    samples = suite.quick ? 10_000 : 100_000
    counts = [10, 1000, 100_000]
    found = suite.rounds(counts, reps: [suite.reps, 3].max) { |n, _| suite.figures(suite.kumi, "waiters", n, samples) }
    found = found.transform_values { |l| suite.medians(l) }
    heads = ["waiters", "by key, 50 %", "99 %", "by name, 50 %", "99 %", "clock, 50 %", "99 %"]
    report.table(heads, counts.map { |n| v = found[n]; v.is_a?(Array) ? [Bench.figure(n), *v.map { |x| Bench.figure(x) }] : [Bench.figure(n), v] })
    few, many = found[10], found[100_000]
    both = few.is_a?(Array) && many.is_a?(Array)
    report.bound("take, 99 % with 100,000 waiters over that with 10, by key", both ? many[1] / few[1] : nil, 2, "x")
    report.bound("the same by name", both ? many[3] / few[3] : nil, 2, "x")
    report.data["waiters"] = found.map { |n, v| { waiters: n, ns: v } }
  end
end
