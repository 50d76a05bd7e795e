# What a producer needs when nothing but it takes memory: rows of one document, read once and dropped, over a sweep of young spaces.
module Bench
  experiment "producer", "memory of a producer alone over a sweep of young spaces, with and without cutting its list", steady: true do |suite, report|
    sizes = suite.quick ? [1, 8, 64] : [1, 2, 4, 8, 16, 32, 64, 128]
    scales = suite.quick ? [0.01] : [0.01, 0.1]
    report.section("A producer alone", <<~TEXT)
      `programs/producer.rb cut|keep` over lineitem from a file: each row is read once and dropped, nothing is joined and nothing stays. cut: the list is cut as it is read. keep: it is not, and
      its document is held. KUMI_YOUNG is the young space; highest memory is above that of a runtime which has loaded the library and done nothing.
    TEXT
    XML.prepare(suite)
    scales.each do |scale|
      lines = XML.document("lineitem", scale)
      found = suite.rounds(%w[cut keep].product(sizes), reps: scale > 0.05 ? 1 : suite.reps) do |(mode, young), _|
        told = XML.parse(suite, suite.argv(suite.kumi, "producer", mode, lines), env: { "KUMI_YOUNG" => young.to_s })
        XML.agree(["producer", scale], told["sum"])
        told
      end
      XML.failures(report, found)
      figure = ->(mode, young, &read) { (l = found[[mode, young]].grep(Hash).filter_map(&read)).empty? ? nil : Stats.median(l) }
      above = ->(mode, young) { (v = figure.(mode, young) { |r| r["peak"] }) && v - XML.idle(suite)["loaded"] }
      report.say("**Scale #{scale}**, #{Bench.mb(File.size(lines))} MB", "")
      report.table(["young space MB", *%w[cut keep].flat_map { |m| ["#{m}: highest MB above idle", "s", "young", "full"] }], sizes.map do |y|
        [y.to_s, *%w[cut keep].flat_map { |m| [Bench.mb(above.(m, y)), XML.s(figure.(m, y) { |r| r["s"] }), Bench.figure(figure.(m, y) { |r| r["gc"]["young_count"] }), Bench.figure(figure.(m, y) { |r| r["gc"]["full_count"] })] }]
      end)
      chart = Plot.new("Memory of a producer alone, scale #{scale}", x: "young space, MB", y: "highest memory above an idle runtime, MB", x_scale: :log2)
      %w[cut keep].each { |m| chart.line(m, sizes.filter_map { |y| (v = above.(m, y)) && [y, v / 1e6] }) }
      report.plot("producer-#{scale}.svg", "A producer alone", chart, "Lower is better. If the two lines are one, a list that is not cut keeps nothing alive. A line that grows with the young space needs as much as that space holds; a level one's rows are freed before it matters.") unless chart.empty?
      report.data["producer #{scale}"] = found.map { |(m, y), runs| { mode: m, young: y, runs: runs } }
    end
  end
end
