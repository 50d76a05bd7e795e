# Every program, default against off.
module Bench
  experiment "set", "each program, default against off, in interleaved pairs" do |suite, report|
    pairs = suite.options[:rounds] || (suite.quick ? 5 : 31)
    report.section("Default against off", <<~TEXT)
      Two workers, the same limit of memory (KUMI_HEAP_MAX=#{Heap.budget(suite).values[0]}). Time of the default over that of off: #{pairs} pairs, run in turn with the order changing; mean of the logarithms without the
      fifth at either end, 95 % bootstrap interval. Above 1 the default is slower. Processor time is user and system of the whole process, for the warehouse program that of the transactions; elapsed time is what others on the machine disturb more.
    TEXT
    env = Heap.budget(suite).merge(Heap.workers(2))
    modes = [Heap.default(suite), Heap.off(suite)]
    cpu, wall = {}, {}
    rows = Heap.cases(suite).map do |program, body|
      runs = suite.turns(modes, pairs) { |r| body.(r, env) }
      next [program, runs] if runs.is_a?(String)
      cpu[program], wall[program] = %i[cpu seconds].map { |k| Stats.ratio(runs.map { |a, b| a.public_send(k) / b.public_send(k) }) }
      [program, *[cpu, wall].flat_map { |t| m, low, high = t[program]; [format("%.3f", m), format("%.3f to %.3f", low, high)] },
       *modes.each_index.map { |i| (v = Heap.median(runs.map { |r| r[i] }, &:stops)) && format("%.0f", v) }]
    end
    report.table(["program", "processor time", "95 % interval", "elapsed", "95 % interval", "node collections", "off's"], rows)
    unless cpu.empty?
      report.note(format("Geometric means: processor time %.3f, elapsed %.3f.", *[cpu, wall].map { |t| Stats.geomean(t.values.map(&:first)) }))
      bars = cpu.keys.map { |p| [p, [cpu[p], wall[p]]] }
      report.plot("set.svg", "Default against off", Plot.bars("Time of the default over off's", y: "ratio (above 1: slower)", names: ["processor time", "elapsed"], rows: bars, base: 1.0), "Below 1 the default is faster than without nurseries. A bar whose interval has 1 in it shows no difference; elapsed time is disturbed more by what else the machine does.")
    end
    slowest = cpu.size == Heap.cases(suite).size ? cpu.max_by { |_, r| r[1] } : nil
    report.bound("default over off, lower end of the interval, the slowest program#{slowest && " (#{slowest[0]})"}", slowest && slowest[1][1], 1, "x")
    report.data["set"] = cpu.map { |p, r| { program: p, cpu: r, wall: wall[p] } }
  end
end
