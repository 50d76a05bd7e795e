# What several cores give: speed-up of computing threads, the price of sharing objects, and how long a
# ready thread waits when all workers compute.
module Bench
  CPU_PROGRAMS = { "cpu_mandelbrot" => [900, 120], "cpu_queens" => [700, 90], "cpu_words" => [400, 60], "cpu_shared" => [350_000, 60_000] }.freeze

  experiment "cpu", "two computing threads on two workers against two processes" do |suite, report|
    report.section("Computing on two workers", <<~TEXT)
      `programs/cpu_*.rb`: seconds for two threads in one process on two workers, and for two processes with one thread each that do the same, started
      together. Processes / threads: 1 means the threads lose nothing (on a machine that has two cores free: cores are processor time by
      elapsed time). The last column is the same ratio of processor times, which other programs on the machine disturb less. cpu_shared shares an Array and a Hash between its threads.
    TEXT
    cases = CPU_PROGRAMS.flat_map { |p, sizes| suite.runtimes(p).map { |r| [p, r, sizes[suite.quick ? 1 : 0]] } }
    found = suite.rounds(cases.flat_map { |c| [[*c, "threads"], [*c, "processes"]] }) do |(program, r, size, mode), _|
      count = r.kind == "go" ? size * 100 : size
      suite.argv(r, program)
      before = Process.times
      words, env = mode == "threads" ? [[2, count], TWO] : [[1, count], ONE]
      from = Bench.now
      children = Array.new(mode == "threads" ? 1 : 2) { suite.start(r, program, *words, env: env) }
      begin
        outs = children.map { |c| c.rest(timeout: 300) }
        ended = children.map { |c| c.finish }
        raise Child::Failed, children.first.why("failed") unless ended.all? { |s| s&.success? } && outs.none?(&:empty?)
        taken = Bench.now - from
        after = Process.times
        [taken, after.cutime + after.cstime - before.cutime - before.cstime]
      ensure
        children.each(&:kill)
      end
    end
    found = found.transform_values { |l| l.find { |r| r.is_a?(String) } || [*l.min_by(&:first), l.map(&:last).min] }
    shares = {}
    rows = cases.map do |c|
      t, pr = found[[*c, "threads"]], found[[*c, "processes"]]
      next [c[0], c[1].name, *[t, pr].find { |x| x.is_a?(String) }] unless t.is_a?(Array) && pr.is_a?(Array)
      shares[[c[0], c[1].name]] = pr[0] / t[0]
      [c[0], c[1].name, format("%.3f", t[0]), format("%.3f", pr[0]), format("%.2f", t[1] / t[0]), format("%.2f", pr[1] / pr[0]), format("%.2f", pr[0] / t[0]), format("%.2f", pr[2] / t[2])]
    end
    report.table(["program", "runtime", "2 threads s", "2 processes s", "threads' cores", "processes' cores", "processes / threads", "processor time"], rows)
    CPU_PROGRAMS.each_key { |p| report.bound("#{p}: two processes' time over two threads'", shares[[p, "kumi"]], 0.9, "x", least: true) }
    names = cases.map { |c| c[1].name }.uniq
    bars = CPU_PROGRAMS.keys.map { |p| [p.delete_prefix("cpu_"), names.map { |n| shares[[p, n]] && [shares[[p, n]]] }] }
    report.plot("cpu.svg", "Computing on two workers", Plot.bars("Two threads against two processes", y: "processes' time / threads' time", names: names, rows: bars, bounds: [["0.9 asked", 0.9]]), "Higher is better; at 1 two threads of a process are as fast as two processes, at 0.5 they only take turns.") unless shares.empty?
    report.data["cpu"] = shares.map { |k, v| { case: k, ratio: v } }
  end

  experiment "sharing", "one operation on an object that two threads share" do |suite, report|
    report.section("Shared objects", <<~TEXT)
      `programs/shared_ops.rb OPERATION THREADS N`: nanoseconds per operation of one thread, loop included: one thread on one worker, one thread on two
      workers, and two threads on two workers that use the same object all the time.
    TEXT
    n = suite.quick ? 500_000 : 3_000_000
    names = ["loop", "Array#[]", "Array#[]=", "Array#push, pop", "Hash#[]", "Hash#[]=", "String#size", "read ivar", "write ivar", "write global", "Object.new"]
    modes = [["1 on 1", 1, ONE], ["1 on 2", 1, TWO], ["2 on 2", 2, TWO]]
    items = names.flat_map { |o| modes.map { |m| [suite.kumi, o, m] } + suite.rubies.map { |r| [r, o, modes[0]] } }
    found = suite.rounds(items) { |(r, o, m), _| suite.figures(r, "shared_ops", o, m[1], n, env: m[2]) }
    found = found.transform_values { |l| suite.best(l) }
    cell = ->(v) { v.is_a?(Array) ? Bench.figure(v[0]) : v }
    report.table(["ns per operation", *modes.map { |m| "kumi #{m[0]}" }, *suite.rubies.map { |r| "#{r.name} 1 on 1" }],
                 names.map { |o| [o, *modes.map { |m| cell.(found[[suite.kumi, o, m]]) }, *suite.rubies.map { |r| cell.(found[[r, o, modes[0]]]) }] })
    report.data["sharing"] = found.map { |(r, o, m), v| { runtime: r.name, operation: o, mode: m[0], result: v } }
  end

  experiment "fairness", "how late a thread that sleeps 1 ms runs while all workers compute" do |suite, report|
    burners = 2 * suite.cores
    seconds = suite.quick ? 1 : 5
    report.section("Fairness", <<~TEXT)
      `programs/fairness.rb #{burners} #{seconds}`: a thread sleeps 1 ms again and again beside #{burners} threads that compute without a pause; microseconds
      it ran later than it asked.
    TEXT
    runtimes = suite.runtimes("fairness")
    found = suite.rounds(runtimes) { |r, _| suite.figures(r, "fairness", burners, seconds) }
    found = found.transform_values { |l| suite.medians(l) }
    own = found[suite.kumi]
    report.table(["late, us", "median", "99 %", "longest", "longest / kumi", "wake-ups"], runtimes.map do |r|
      v = found[r]
      v.is_a?(Array) ? [r.name, *v.first(3).map { |x| Bench.figure(x) }, own.is_a?(Array) ? Bench.times(v[2], own[2]) : "-", Bench.figure(v[3])] : [r.name, v]
    end)
    report.data["fairness"] = found.map { |r, v| { runtime: r.name, us: v } }
  end
end
