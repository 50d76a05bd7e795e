# What handing over costs by the size of what is handed over.
module Bench
  experiment "handover", "the first put of a fresh graph, by shape and size" do |suite, report|
    report.section("The first hand-over", <<~TEXT)
      `programs/handover.rb first SHAPE N`: nanoseconds an object of the first put of a graph just built, median of the rounds in a process; move: the same with
      `move: true`.
    TEXT
    shapes = %w[strings arrays tree hashes structs objects list]
    sizes = suite.quick ? [1_000, 100_000] : [1_000, 10_000, 100_000, 1_000_000]
    items = %w[first move].product(shapes, sizes)
    found = suite.rounds(items) do |(mode, shape, n), _|
      rounds = suite.quick ? (200_000 / n).clamp(3, 51) : (3_000_000 / n).clamp(5, 301)
      suite.figures(suite.kumi, "handover", mode, shape, n, rounds, timeout: 60)
    end
    found = found.transform_values { |l| suite.medians(l) }
    cell = ->(v) { v.is_a?(Array) ? Bench.figure(v[0]) : v }
    report.table(["ns an object", *sizes.map { |n| "put #{Bench.figure(n)}" }, *sizes.map { |n| "move #{Bench.figure(n)}" }],
                 shapes.map { |s| [s, *%w[first move].product(sizes).map { |mode, n| cell.(found[[mode, s, n]]) }] })
    %w[first move].each do |mode|
      all = shapes.product(sizes).map { |s, n| found[[mode, s, n]] }
      worst = all.all?(Array) ? all.map(&:first).max : nil
      mean = all.all?(Array) ? Stats.geomean(all.map { |v| [v[0], 0.01].max }) : nil
      words = mode == "move" ? "first put with move: true" : "first put"
      report.bound("#{words} of a fresh graph, geometric mean of shapes and sizes", mean, 15, "ns an object")
      report.bound("#{words} of a fresh graph, the worst", worst, 15, "ns an object")
    end
    report.data["handover"] = found.map { |(mode, shape, n), v| { mode: mode, shape: shape, objects: n, ns: v } }
  end

  experiment "flip", "flip and later puts by size; 10,000 flips against 10,000 puts (table 3)" do |suite, report|
    report.section("Later hand-overs, and flip (table 3)", <<~TEXT)
      `programs/handover.rb`: nanoseconds by the number of an array's elements, each an array. again: a later put of the same frozen array. flip-owned,
      flip-shared: one flip within a code segment that took the array (median by the clock, less the clock's own), and in brackets the whole code segment, of a `repeat`. flips, puts, copies: one
      code segment adds 10,000 segments: by flip of its input, by put of the same value, by put of a copy each (as the paper's put copies). The paper's Java: flip 6,112, put 6,524.
    TEXT
    sizes = suite.quick ? [100, 10_000, 1_000_000] : [100, 1_000, 10_000, 100_000, 1_000_000]
    count = suite.quick ? 3_000 : 10_000
    modes = %w[again flip-owned flip-shared flips puts copies]
    found = suite.rounds(modes.product(sizes), reps: [suite.reps, 3].max) { |(mode, n), _| suite.figures(suite.kumi, "handover", mode, n, count, timeout: 60) }
    found = found.transform_values { |l| suite.medians(l) }
    cell = lambda do |mode, v|
      next v unless v.is_a?(Array)
      mode.start_with?("flip-") ? "#{Bench.figure(v[0])} (#{Bench.figure(v[1])})" : Bench.figure(v[0])
    end
    report.table(["ns", *sizes.map { |n| Bench.figure(n) }, "most / least"], modes.map do |mode|
      list = sizes.map { |n| found[[mode, n]] }
      spread = list.all?(Array) && list.map(&:first).min > 0 ? Bench.times(list.map(&:first).max, list.map(&:first).min) : nil
      [mode, *list.map { |v| cell.(mode, v) }, spread]
    end)
    over = ->(mode, n) { a, b = found[[mode, n]], found[["flips", n]]; a.is_a?(Array) && b.is_a?(Array) && b[0] > 0 ? a[0] / b[0] : nil }
    report.table(["over a flip", *sizes.map { |n| Bench.figure(n) }, "the paper's"], [["put of the same", *sizes.map { |n| (v = over.("puts", n)) && format("%.2f", v) }], ["put of a copy", *sizes.map { |n| (v = over.("copies", n)) && format("%.2f", v) }, format("%.3f", Paper::PUT_OVER_FLIP)]])
    chart = Plot.new("10,000 puts over as many flips", x: "elements", y: "time of a put over that of a flip", x_scale: :log10, y_scale: :log10)
    { "put of the same" => "puts", "put of a copy" => "copies" }.each { |name, mode| chart.line(name, sizes.filter_map { |n| (v = over.(mode, n)) && [n, v] }) }
    chart.mark("the paper's put over flip", Paper::PUT_OVER_FLIP)
    report.plot("table3-flip.svg", "Table 3", chart, "At 1 a flip saves nothing. A line that rises with the elements copies them; a level one hands over a pointer. The paper tells one figure and not the size of what it adds.") unless chart.empty?
    { "again" => "a later put of the same", "flip-owned" => "flip of an owned input", "flip-shared" => "flip of a shared input" }.each do |mode, words|
      list = sizes.map { |n| found[[mode, n]] }
      report.bound("#{words}, most over least of 100 to 1,000,000 elements", list.all?(Array) && list.map(&:first).min > 0 ? list.map(&:first).max / list.map(&:first).min : nil, 1.1, "x")
    end
    report.data["flip"] = found.map { |(mode, n), v| { mode: mode, elements: n, ns: v } }
  end
end
