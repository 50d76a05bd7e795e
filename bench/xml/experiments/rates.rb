# First result and total by the wire's rate: figures 3 to 5, 9 and 10 of the paper.
module Bench
  module XML
    RATES = [21, 44, 68, 140, 250, 1000, nil].freeze

    # The wires of a scale. In a quick run, one slow, one fast and none.
    def self.wires(suite) = (suite.quick ? [44, 250, nil] : RATES).map { |r| Wire.shared(r) }

    def self.sweep(suite, scale, reps)
      @sweep ||= {}
      @sweep[scale] ||= suite.rounds(wires(suite).flat_map { |w| MODES.keys.map { |m| [m, w] } }, reps: reps) { |(mode, wire), _| join(suite, mode, scale, wire) }
    end

    def self.rates(suite, report, scale, reps)
      prepare(suite)
      found = sweep(suite, scale, reps)
      all = wires(suite)
      modes = MODES.keys
      failures(report, found)
      cell = ->(m, w, form, &read) { form.(median(found[[m, w]], &read)) }
      tables = { "First result, ms after the wire's first byte" => [method(:ms), :first],
                 "First result, ms after the first byte of the input that came last" => [method(:ms), :first_both],
                 "First result, ms after the request" => [method(:ms), :first_asked], "Total, s" => [method(:s), :total],
                 "Total over the wire's own time" => [->(v) { v && format("%.4f", v) }, :over],
                 "Processor time, s" => [method(:s), :cpu], "Highest memory, MB" => [Bench.method(:mb), :peak] }
      tables.each do |title, (form, read)|
        report.say("**#{title}**", "")
        report.table(["wire", "its time, s", *modes], all.map { |w| [w.name, s(modes.filter_map { |m| median(found[[m, w]], &:wire) }.first), *modes.map { |m| cell.(m, w, form, &read) }] })
      end
      %w[ED SQ].each do |base|
        others = modes - [base]
        report.say("**Total over #{base}'s, in pairs**", "")
        report.table(["wire", *others], all.map { |w| [w.name, *others.map { |m| interval(ratio(found, [m, w], [base, w], &:total)) }] })
      end
      report.note("The paper: DD 1.02 to 1.08 of ED's total below 44 Mbps, #{Paper::OLD["small"]} (small buffers) and #{Paper::OLD["large"]} (large) at 250; DD 0.86 to 0.94 of SQ's below 44 Mbps (2.3).")
      report.say("**Share of the cells' bytes born private; of these, published or retired (%)**", "")
      report.table(["wire", *modes], all.map { |w| [w.name, *modes.map { |m| r = found[[m, w]]; "#{percent(median(r, &:born_private)) || "-"}; #{percent(median(r, &:published)) || "-"}" }] })
      bounds(report, scale, found, all)
      plots(report, scale, found, all, modes)
      report.data["rates #{scale}"] = raw(found)
      found
    end

    # What is asked for, answered by the wire on which it is worst.
    def self.bounds(report, scale, found, all)
      worst = ->(wires, &read) { wires.filter_map { |w| (v = read.(w)) && [v, w.name] }.max_by(&:first) || [nil, "no wire"] }
      slow = all.select { |w| w.paced? && w.name.to_f.between?(21, 250) }
      v, at = worst.(all.select(&:paced?)) { |w| median(found[[OURS, w]], &:first)&.*(1e3) }
      report.bound("scale #{scale}: first result after the wire's first byte (worst: #{at})", v, 2, "ms")
      v, at = worst.(slow) { |w| median(found[[OURS, w]], &:over) }
      report.bound("scale #{scale}: total over the wire's time, 21 to 250 Mbps (worst: #{at})", v, 1.02, "x")
      v, at = worst.(all) { |w| ratio(found, [OURS, w], ["ED", w], &:total)&.first }
      report.bound("scale #{scale}: total over ED's (worst: #{at})", v, 1.02, "x")
    end

    # Unpaced is drawn at 4000 Mbps.
    SEEN = {
      "first" => "Lower is better. A level line answers as soon on a fast wire as on a slow one; SQ answers when the last byte has come. The paper's points (its text has three) are of another machine: compare how they change with the rate, not their height.",
      "total" => "Lower is better. On slow wires all lie on the wire's own time; where lines part the processor has become the limit, and the distance is what a mode costs. The paper has these curves without figures (its figures 4, 5 and 10)."
    }.freeze

    def self.plots(report, scale, found, all, modes)
      [["first", "First result after the wire's first byte (unpaced: at 4000)", "ms", 1e3, :first], ["total", "Total (unpaced: at 4000)", "s", 1, :total]].each do |file, title, unit, times, read|
        chart = Plot.new("#{title}, scale #{scale}", x: "rate of the wire, Mbps", y: "#{file == "first" ? "first result" : "total"}, #{unit}", x_scale: :log10, y_scale: :log10)
        modes.each do |m|
          chart.line(m, all.filter_map do |w|
            list = (found[[m, w]] || []).grep(Run).filter_map(&read).map { |v| v * times }
            list.empty? ? nil : [w.paced? ? w.name.to_f : 4000.0, Stats.median(list), list.min, list.max]
          end)
        end
        Paper::FIRST.each { |name, points| chart.line(name, points.map { |rate, ms| [rate, ms] }) } if file == "first"
        report.plot("rates-#{file}-#{scale}.svg", title, chart, SEEN[file]) unless chart.empty?
      end
      rows = all.map { |w| [w.name, modes.drop(2).map { |m| ratio(found, [m, w], ["ED", w], &:total) }] }
      return if rows.all? { |_, v| v.compact.empty? }
      report.plot("rates-over-ed-#{scale}.svg", "Total over ED's", Plot.bars("Total over ED's, scale #{scale}", y: "ratio", names: modes.drop(2), rows: rows, base: 1.0,
                                                                                            bounds: [["2 %", 1.02], ["the paper, 250 Mbps, adaptive and cutting (table 3)", Paper.over_ed("DD cut", :total)], ["the paper before, small buffers (2.3)", Paper::OLD["small"]]]),
                  "Below 1 processing by demand is faster than event handlers written by hand, above 1 slower. Lines across are the paper's at 250 Mbps; compare them with that group.")
    end
  end

  experiment "rates", "figures 3 to 5, 9 and 10: first result and total by the wire's rate, scale 0.01" do |suite, report|
    report.section("First result and total by the wire's rate (figures 3 to 5, 9, 10)", <<~TEXT)
      A hash join of lineitem (32.24 MB, 60,175 rows) and orders (5.30 MB, 15,000 rows) on the order key. Both come over one wire of the given rate, 4 KB of one and 4 KB of the other in turn until orders ends.
      A wire's time is that of its bits. `first` can't be before both inputs have brought a piece: on a wire of 21 Mbps the second one comes 1.6 ms after the first.
    TEXT
    XML.rates(suite, report, 0.01, suite.options[:reps])
  end

  experiment "rates-0.1", "the same at scale 0.1 (not in a quick run unless named)" do |suite, report|
    report.section("The same at scale 0.1", "325 MB and 54 MB, one round.")
    if suite.quick
      report.note("Left out: a quick run.")
      next
    end
    XML.rates(suite, report, 0.1, 1)
  end
end
