# What extensible stacks cost in time: figures 10 to 12 (against a build whose stacks are fixed) and 13.
module Bench
  GROUPS = { "app" => "fig10-app.svg", "vm" => "fig11-vm.svg", "vm1" => "fig12-vm1.svg" }.freeze
  ONE_MB = { INITIAL => (1 << 20).to_s, "KUMI_WORKERS" => "1" }.freeze

  def self.speed_programs(suite)
    Dir.children(suite.programs).filter_map { |f| f[/\A((?:app|vm1?)_\w+)\.rb\z/, 1] }.sort
  end

  # Instructions of one run, less those of the same program with no work to do.
  def self.instructions(suite, runtime, program, scale, env)
    counts = [scale, 0].map { |s| suite.instructions(runtime, program, s, env: env) }
    counts[0] - counts[1]
  end

  # The table's cell for a build's instructions over the fixed build's; noted in `counts`. Empty without --callgrind.
  def self.counted(suite, runtime, program, counts)
    return [] unless suite.callgrind
    return ["no valgrind"] unless suite.tool("valgrind")
    a, b = [runtime, suite.fixed].map { |r| instructions(suite, r, program, 0.005, ONE_MB) }
    counts[program] = a / b.to_f if a > 0 && b > 0
    [format("%.4f", a / b.to_f)]
  end

  experiment "speed", "figures 10 to 12: time against the fixed build, no stack growing" do |suite, report|
    pairs = suite.quick ? 5 : [suite.reps, 31].max
    report.section("Speed against the fixed build (figures 10 to 12)", <<~TEXT)
      Processor time (user and system) of the extensible build over that of the fixed build, both with an initial size of 1 MB, so that no stack
      grows, on one worker; programs of #{suite.scale} of their length. #{pairs} pairs, run in turn with the order changing; mean of the logarithms without the fifth at either end, 95 % bootstrap
      interval. Above 1 the extensible build is slower.
    TEXT
    unless suite.fixed
      report.note("Not measured: no fixed build. Give one: `cargo build --release -p kumi --features fixed-stack`, then `--fixed BIN`.")
      next report.bound("geometric mean against the fixed build", nil, 1.02, "x")
    end
    builds = [suite.kumi]
    ratios = builds.to_h { |r| [r, {}] }
    counts = builds.to_h { |r| [r, {}] }
    rows = Bench.speed_programs(suite).map do |program|
      times = suite.turns([*builds, suite.fixed], pairs) do |r|
        result = suite.run(r, program, suite.scale, env: ONE_MB)
        raise Child::Failed, "#{r.name}: #{result.why}" unless result.ok?
        result.cpu
      end
      next [program, times] if times.is_a?(String)
      [program, *builds.each_with_index.flat_map do |r, i|
        list = ratios[r][program] = times.map { |t| t[i] / t[-1] }
        m, low, high = Stats.ratio(list)
        [format("%.3f", m), format("%.3f to %.3f", low, high), *Bench.counted(suite, r, program, counts[r])]
      end]
    end
    report.table(["program", *builds.flat_map { |r| [r.name, "95 % interval", *(suite.callgrind ? ["instructions"] : [])] }], rows)
    next if ratios[suite.kumi].empty?
    builds.each do |r|
      m, low, high = Stats.mean_ratio(ratios[r].values)
      highest = ratios[r].values.map { |l| Stats.ratio(l, draws: 1)[0] }.max
      report.note("#{r.name}: geometric mean of #{ratios[r].size} programs #{format("%.4f (%.4f to %.4f)", m, low, high)}; highest #{format("%.3f", highest)}. The paper: #{Paper::SPEED.map { |m, (mean, most)| "#{m} mean #{mean}, highest #{most}" }.join("; ")}.")
      list = counts[r].values
      report.note("#{r.name}: geometric mean of the instruction counts' ratios #{format("%.4f", Stats.geomean(list))}, highest #{format("%.4f", list.max)}.") unless list.empty?
      report.data["speed #{r.name}"] = ratios[r].map { |p, l| { program: p, ratio: Stats.ratio(l), instructions: counts[r][p] } }
      next unless r == suite.kumi
      report.bound("geometric mean against the fixed build", m, 1.02, "x")
      report.bound("slowest program against the fixed build", highest, 1.10, "x")
      report.bound("geometric mean of instructions against the fixed build", list.empty? ? nil : Stats.geomean(list), 1.02, "x") if suite.callgrind
    end
    GROUPS.each do |group, file|
      bars = ratios[suite.kumi].keys.grep(/\A#{group}_/).map { |p| [p.delete_prefix("#{group}_"), builds.map { |r| Stats.ratio(ratios[r][p]) }] }
      chart = Plot.bars("#{group}_ programs: time over the fixed build", y: "ratio (above 1: slower)", names: builds.map(&:name), rows: bars, base: 1.0, bounds: [["1.02", 1.02], *Paper::SPEED.map { |m, (mean, _)| ["the paper's mean, #{m}", mean] }]) unless bars.empty?
      report.plot(file, "#{group}_ programs", chart, "Lower is better; a bar below 1 is faster than the build with fixed stacks. A bar with its interval on both sides of 1 shows no difference. Lines across are the means that the paper gives for its 197 programs; it gives no single program's figure in text.") if chart
    end
  end

  experiment "initial-speed", "figure 13: time against the initial stack size" do |suite, report|
    rounds = suite.quick ? 3 : [suite.reps, 11].max
    report.section("Speed against the initial size (figure 13)", <<~TEXT)
      Processor time of the app_ programs on one worker, over the same program's time with 1 MB in the same round; #{rounds} rounds, mean and 95 %
      interval as above.
    TEXT
    sizes = suite.quick ? [256, 4096, 1 << 20] : [8, 10, 12, 14, 16, 18, 20].map { |e| 1 << e }
    programs = Bench.speed_programs(suite).grep(/\Aapp_/)
    programs = programs.first(4) if suite.quick
    found = programs.to_h do |program|
      [program, suite.rounds(sizes.map { |s| [program, s] }, reps: rounds) do |(name, s), _|
        result = suite.run(suite.kumi, name, suite.scale, env: { INITIAL => s.to_s, "KUMI_WORKERS" => "1" })
        raise Child::Failed, result.why unless result.ok?
        result.cpu
      end]
    end
    ratio = lambda do |program, s|
      a, b = found[program][[program, s]], found[program][[program, 1 << 20]]
      a.zip(b).map { |x, y| x / y } unless (a + b).any?(String)
    end
    means = sizes.to_h { |s| [s, (l = programs.filter_map { |p| ratio.(p, s) }).empty? ? nil : Stats.mean_ratio(l)] }
    report.table(["program", *sizes.map { |s| Bench.size_name(s) }], programs.map do |p|
      [p, *sizes.map { |s| (r = ratio.(p, s)) ? format("%.3f", Stats.ratio(r, draws: 50)[0]) : found[p][[p, s]].find { |x| x.is_a?(String) } }]
    end + [["geometric mean", *sizes.map { |s| means[s] && format("%.3f", means[s][0]) }],
           ["interval", *sizes.map { |s| means[s] && format("%.3f to %.3f", *means[s][1..]) }]])
    chart = Plot.new("Time against the initial stack size", x: "initial stack size, bytes", y: "processor time over that with 1 MB", x_scale: :log2, zero: false)
    programs.each { |p| chart.line(p.delete_prefix("app_"), sizes.filter_map { |s| (r = ratio.(p, s)) && [s, Stats.ratio(r, draws: 50)[0]] }) }
    chart.line("mean", sizes.filter_map { |s| means[s] && [s, *means[s]] })
    report.plot("fig13-initial-size.svg", "Figure 13", chart, "A level line says that the initial size costs no time, which is what the paper finds of its method 2 (it gives no figures). Look at the mean and its interval; single programs scatter.") unless chart.empty?
    if suite.callgrind && suite.tool("valgrind")
      counts = programs.to_h do |p|
        [p, sizes.to_h { |s| [s, Bench.instructions(suite, suite.kumi, p, 0.005, { INITIAL => s.to_s, "KUMI_WORKERS" => "1" }).to_f] }]
      end
      over = sizes.to_h { |s| [s, Stats.geomean(programs.map { |p| counts[p][s] / counts[p][1 << 20] })] }
      report.table(["instructions over those with 1 MB", *sizes.map { |s| Bench.size_name(s) }],
                   programs.map { |p| [p, *sizes.map { |s| format("%.4f", counts[p][s] / counts[p][1 << 20]) }] } + [["geometric mean", *sizes.map { |s| format("%.4f", over[s]) }]])
      report.data["initial-speed instructions"] = over.map { |s, r| { size: s, ratio: r } }
    end
    worst = means.except(1 << 20).values.compact.map { |m| (m[0] - 1).abs }.max
    report.bound("largest change of the mean with the initial size", worst && worst * 100, 2, "%")
    report.data["initial-speed"] = means.map { |s, m| { size: s, ratio: m } }
  end
end
