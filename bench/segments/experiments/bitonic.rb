# The paper's table 4: the sort of a million elements in ten parts, on one worker and on two.
module Bench
  # Seconds of `count` processes started together: from the start of the first to the end of the last, and the slower one's sort, elapsed and processor time.
  def self.together(suite, count, *args, env:)
    from = Bench.now
    children = Array.new(count) { suite.start(suite.kumi, *args, env: env) }
    outs = children.map { |c| c.rest(timeout: 300) }
    ended = children.map(&:finish)
    raise Child::Failed, children.first.why("failed") unless ended.all? { |s| s&.success? } && outs.none?(&:empty?)
    [Bench.now - from, outs.map { |o| o.split[0].to_f }.max, outs.map { |o| o.split[1].to_f }.max]
  ensure
    children&.each(&:kill)
  end

  experiment "bitonic", "the sort of a million elements in ten parts (table 4)" do |suite, report|
    n = suite.quick ? 200_000 : 1_000_000
    rounds = suite.quick ? 3 : 11
    report.section("Sort in ten parts (table 4)", <<~TEXT)
      `programs/bitonic.rb`: milliseconds to sort #{Bench.figure(n)} numbers in ten parts, the median of #{rounds} sorts in a process: parts are sorted, then exchanged in pairs by Batcher's merge exchange; 31 exchanges, of
      which up to five go on at a time. flip: parts are owned and go on by flip; put: each hand-over puts a copy, as before the paper's flip. Processor time is of
      one sort. Gain of two processes: twice a one-worker process's sort alone over the slower sort of two such processes at once.
      The paper's Java: 199.38 before, 184.64 after.
    TEXT
    items = [["flip", 1, ONE], ["flip", 1, TWO], ["put", 1, ONE], ["put", 1, TWO], ["flip", 2, ONE]]
    found = suite.rounds(items, reps: [suite.reps, 3].max) { |(mode, count, env), _| Bench.together(suite, count, "bitonic", mode, n, 10, rounds, env: env) }
    found = found.transform_values { |l| suite.medians(l) }
    ms = ->(*item) { (v = found[item]).is_a?(Array) ? v[1] * 1000 : nil }
    used = ->(*item) { (v = found[item]).is_a?(Array) ? Bench.figure(v[2] * 1000) : nil }
    report.table(["ms", "1 worker", "2 workers", "T(1) / T(2)", "processor, 1 worker", "2 workers"], %w[flip put].map do |m|
      one, two = ms.(m, 1, ONE), ms.(m, 1, TWO)
      [m, Bench.figure(one), Bench.figure(two), Bench.times(one, two), used.(m, 1, ONE), used.(m, 1, TWO)]
    end)
    found.each { |(m, c, _), v| report.note("Failed: #{m}, #{c} at once: #{v}") if v.is_a?(String) }
    rows = [["1 worker", ONE], ["2 workers", TWO]].filter_map { |name, env| (a = ms.("put", 1, env)) && (b = ms.("flip", 1, env)) && [name, [[a / b], [Paper::BEFORE_OVER_AFTER]]] }
    report.note("put over flip: #{rows.map { |n, v| "#{n} #{format("%.3f", v[0][0])}" }.join(", ")}; the paper's before over after #{format("%.3f", Paper::BEFORE_OVER_AFTER)}.") unless rows.empty?
    report.plot("table4-sort.svg", "Table 4", Plot.bars("The sort by put over the sort by flip", y: "time over that with flip", names: ["kumi", "paper"], rows: rows, bounds: [["no difference", 1.0]]),
                "Above 1 a copy at each hand-over costs that much more. The paper's bar is its framework before and after, which also left out its stages; it holds most of the gain to be theirs.") unless rows.empty?
    one, two, pair = ms.("flip", 1, ONE), ms.("flip", 1, TWO), ms.("flip", 2, ONE)
    gain = one && pair && 2 * one / pair
    report.note("Two one-worker processes at once: #{Bench.figure(pair)} ms each, a gain of #{Bench.figure(gain)}.") if gain
    report.bound("sort: T(1 worker) / T(2) over the gain of two one-worker processes", gain && two && one / two / gain, 0.9, "x", least: true)
    report.data["bitonic"] = found.map { |(m, c, env), v| { mode: m, processes: c, workers: env["KUMI_WORKERS"], seconds: v } }
  end
end
