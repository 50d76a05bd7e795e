# How the stack's size and its growing and shrinking show in memory: figure 8, table 2, and what the
# paper left open.
module Bench
  DEEP_STACK = { "RUBY_THREAD_VM_STACK_SIZE" => "4194304" }.freeze
  INITIAL = "RUBY_THREAD_VM_STACK_INITIAL_SIZE"

  # 1024 as "1 KB".
  def self.size_name(bytes) = bytes >= 1 << 20 ? "#{bytes >> 20} MB" : bytes >= 1024 ? "#{bytes >> 10} KB" : "#{bytes} B"

  experiment "initial-size", "figure 8: memory of 10,000 sleeping threads against the initial stack size", steady: true do |suite, report|
    n = suite.quick ? 2000 : 10_000
    report.section("Initial stack size (figure 8)", <<~TEXT)
      `programs/sleepers.rb #{n}` with #{INITIAL} from 128 B to 1 MB; highest resident memory in MB. The others do not read the
      variable and are measured once in each round.
    TEXT
    sizes = suite.quick ? [128, 1024, 16_384, 131_072, 1 << 20] : (7..20).map { |e| 1 << e }
    others = [suite.fixed, *suite.rubies].compact
    items = sizes.map { |s| [suite.kumi, s] } + others.map { |r| [r, 0] }
    found = suite.rounds(items) { |(r, s), _| Bench.resident(suite, r, "sleepers", n, env: s > 0 ? { INITIAL => s.to_s } : {}) }
    found = found.transform_values { |l| suite.best(l) }
    show = ->(v) { v.is_a?(Array) ? [Bench.mb(v[1]), Bench.mb(v[2])] : [v, nil] }
    report.table(["initial size", "highest MB", "steady MB"],
                 sizes.map { |s| ["kumi, #{Bench.size_name(s)}", *show.(found[[suite.kumi, s]])] } + others.map { |r| [r.name, *show.(found[[r, 0]])] })
    chart = Plot.new("Memory of #{Bench.figure(n)} threads against the initial stack size", x: "initial stack size, bytes", y: "highest resident memory, MB", x_scale: :log2, y_scale: :log10)
    chart.line("kumi", sizes.filter_map { |s| v = found[[suite.kumi, s]]; [s, v[1] / 1e6] if v.is_a?(Array) })
    others.each { |r| v = found[[r, 0]]; chart.mark(r.name, v[1] / 1e6) if v.is_a?(Array) }
    report.plot("fig8-initial-size.svg", "Figure 8", chart, "Lower is better. Read along kumi's line: where it is level the initial size costs nothing, for pages that are not touched are not resident. Lines across are those that do not read the variable.") unless chart.empty?
    a, b = found[[suite.kumi, 1024]], suite.rubies.first && found[[suite.rubies.first, 0]]
    report.note("The paper has this as a curve without figures but for 1 KB with 10,000 threads (table 1): #{Paper.over_base(Paper::TABLE_1[10_000]).map { |v| format("%.3f", v) }.join(" and ")} of its CRuby's whole process (methods 1 and 2); here #{format("%.3f", a[1] / b[1].to_f)} of #{suite.rubies.first.name}'s.") if a.is_a?(Array) && b.is_a?(Array)
    report.data["initial-size"] = found.map { |(r, s), v| { runtime: r.name, size: s, result: v } }
  end

  experiment "models", "table 2: memory of threads at linearly and exponentially distributed depths", steady: true do |suite, report|
    report.section("Depths of recursion (table 2)", <<~TEXT)
      `programs/stack_model.rb linear|exponential 1024`: figure 9's method. Linear: thread i sleeps 10 * i calls deep. Exponential:
      512 threads 10 deep, 256 threads 20 deep and so on. Each thread is started when the one before it sleeps (the paper waited 0.1 s).
      Highest resident memory in MB less that of no thread, and as measured. The maximal stack is 4 MB for all; CRuby's 1 MB is too small for 10,240 calls.
    TEXT
    runtimes = [suite.kumi, suite.fixed, *suite.rubies].compact
    models = %w[linear exponential]
    items = runtimes.flat_map { |r| [[r, "flat", 0], *models.map { |m| [r, m, 1024] }] }
    found = suite.rounds(items) { |(r, m, n), _| Bench.resident(suite, r, "stack_model", m, n, env: DEEP_STACK) }
    found = found.transform_values { |l| suite.best(l) }
    used = lambda do |r, m|
      a, b = found[[r, "flat", 0]], found[[r, m, 1024]]
      b[1].to_f - a[1] if a.is_a?(Array) && b.is_a?(Array)
    end
    ruby = suite.rubies.first
    rows = runtimes.flat_map do |r|
      models.map do |m|
        v = found[[r, m, 1024]]
        own = used.(r, m)
        theirs = ruby && used.(ruby, m)
        next [m, r.name, v.is_a?(String) ? v : nil] unless own
        whole = theirs && found[[ruby, m, 1024]]
        [m, r.name, Bench.mb(own), Bench.mb(v[1]), theirs ? format("%+.0f %%", (own / theirs - 1) * 100) : "-", whole ? format("%+.0f %%", (v[1] / whole[1].to_f - 1) * 100) : "-"]
      end
    end
    report.table(["model", "runtime", "threads' MB", "process MB", "against #{ruby&.name || "CRuby"}", "whole process"], rows.sort_by { |r| models.index(r[0]) })
    report.note("The paper: linear 375.5 (method 1), 550.4 (method 2), 348.0 MB (CRuby 2.5); exponential 24.3, 24.6, 34.9 MB (-30 %).")
    models.each do |m|
      own, theirs = used.(suite.kumi, m), ruby && used.(ruby, m)
      share = own / theirs if own && theirs
      report.bound("#{m} model, memory over CRuby's (threads only)", share, m == "linear" ? 1.0 : 0.4, "x")
      whole = found[[suite.kumi, m, 1024]], ruby && found[[ruby, m, 1024]]
      share = whole[0][1] / whole[1][1].to_f if whole.all?(Array)
      report.bound("#{m} model, memory over CRuby's (whole process)", share, m == "linear" ? 1.0 : 0.4, "x")
    end
    chart = Plot.bars("1,024 threads at distributed depths", y: "memory of the threads, MB", names: runtimes.map(&:name), rows: models.map { |m| [m, runtimes.map { |r| (u = used.(r, m)) && [u / 1e6] }] })
    report.plot("table2-models.svg", "Table 2", chart, "Lower is better. Two groups: many deep stacks (linear), and many shallow ones with few deep ones (exponential), which the paper takes to be what programs do.") unless chart.empty?
    whole = ->(m) { (a = found[[suite.kumi, m, 1024]]).is_a?(Array) && ruby && (b = found[[ruby, m, 1024]]).is_a?(Array) ? a[1] / b[1].to_f : nil }
    if models.any?(&whole)
      report.note("The whole process over CRuby's, as the paper counts; kumi's over #{ruby.name}'s, the paper's methods over its CRuby 2.5:")
      report.table(["model", "kumi", *Paper::METHODS], models.map { |m| [m, whole.(m) && format("%.3f", whole.(m)), *Paper.over_base(Paper::TABLE_2[m]).map { |v| format("%.3f", v) }] })
      rows = models.map { |m| [m, [whole.(m), *Paper.over_base(Paper::TABLE_2[m])].map { |v| v && [v] }] }
      chart = Plot.bars("1,024 threads at distributed depths: the whole process over CRuby's", y: "highest memory over CRuby's", names: ["kumi", *Paper::METHODS], rows: rows, bounds: [["CRuby", 1.0]])
      report.plot("table2-over-cruby.svg", "Table 2", chart, "Lower is better; 1 is CRuby. Each bar divides by the CRuby of its own machine. The whole process is counted, as in the paper, so what a process needs without threads is in both sides of the ratio.")
    end
    report.data["models"] = found.map { |(r, m, n), v| { runtime: r.name, model: m, threads: n, result: v } }
  end

  experiment "shrink", "memory of parked threads that have recursed 10,240 deep, against threads that never grew", steady: true do |suite, report|
    report.section("Shrinking (left open by the paper)", <<~TEXT)
      `programs/shrink.rb 1024 DEPTH`: all threads recurse DEPTH deep, wait there together, return, and sleep. Resident KB per thread (less the
      process with one thread) while deep, and 0 to 5 s after all sleep again; DEPTH 0 never grew.
    TEXT
    threads = 1024
    times = [0, 1, 2, 3, 5]
    runtimes = suite.runtimes("shrink")
    items = runtimes.flat_map { |r| [[r, 1, 0], [r, threads, 0], [r, threads, 10_240]] }
    found = suite.rounds(items, reps: suite.quick ? 1 : [suite.reps, 3].min) do |(r, n, depth), _|
      child = suite.start(r, "shrink", n, depth, env: DEEP_STACK)
      begin
        raise Child::Failed, child.why("did not get down") unless child.line(timeout: 120) == "deep"
        deep = child.memory("VmRSS")
        child.say("back")
        child.line(timeout: 120)
        from = Bench.now
        [deep, *times.map { |t| sleep([from + t - Bench.now, 0].max); child.memory("VmRSS") }]
      ensure
        child.kill
      end
    end
    found = found.transform_values { |l| suite.medians(l) }
    rows = runtimes.flat_map do |r|
      base = found[[r, 1, 0]]
      [0, 10_240].map do |depth|
        v = found[[r, threads, depth]]
        next [r.name, depth.to_s, v.is_a?(String) ? v : nil] unless v.is_a?(Array) && base.is_a?(Array)
        [r.name, depth.to_s, *v.zip(base).map { |a, b| format("%.2f", (a - b) / 1024.0 / threads) }]
      end
    end
    report.table(["runtime", "depth", "deep", *times.map { |t| "#{t} s" }], rows)
    base, flat, grown = found[[suite.kumi, 1, 0]], found[[suite.kumi, threads, 0]], found[[suite.kumi, threads, 10_240]]
    share = (grown[-1] - base[-1]) / [flat[-1] - base[-1], 1.0].max if [base, flat, grown].all?(Array)
    report.bound("grown and parked over never grown, 5 s later", share, 2, "x")
    chart = Plot.new("1,024 parked threads that were 10,240 calls deep", x: "seconds after they sleep again", y: "resident KB per thread", y_scale: :log10)
    runtimes.each do |r|
      v, b = found[[r, threads, 10_240]], found[[r, 1, 0]]
      chart.line(r.name, times.each_with_index.map { |t, i| [t, (v[i + 1] - b[i + 1]) / 1024.0 / threads] }) if v.is_a?(Array) && b.is_a?(Array)
    end
    report.plot("shrink.svg", "Shrinking", chart, "Lower is better. All threads were deep and sleep from 0 on: a line that falls gives memory back, a level one keeps it. Each step up is ten times as much.") unless chart.empty?
    report.data["shrink"] = found.map { |(r, n, d), v| { runtime: r.name, threads: n, depth: d, result: v } }
  end
end
