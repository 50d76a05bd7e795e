# Memory: what collections reclaim with and without cutting, by the size of the young space (tables 3 to 5, figure 14 of the paper), and a document of a gigabyte.
module Bench
  module XML
    # Lines of the collector's log, of collections by all workers: what was collected, when, and live bytes before and after.
    Collected = Struct.new(:at, :kind, :before, :after, :pause)

    KEPT = { "SQ" => %w[sq], "ED" => %w[ed], "DD kept" => %w[dd adaptive --keep], "DD cut" => %w[dd adaptive] }.freeze
    UNITS = { "K" => 1 << 10, "M" => 1 << 20, "G" => 1 << 30 }.freeze

    class << self
      # Runs a mode with the log on, and its resident memory looked at from outside every 10 ms: [Run, [Collected], [[seconds, bytes]]].
      def watched(suite, mode, scale, wire, env: {})
        log = File.join(data, "gc.log")
        FileUtils.rm_f(log)
        run = join(suite, mode, scale, wire, env: env, program: KEPT.fetch(mode), gc_log: "all,#{log}")
        lines = File.exist?(log) ? File.readlines(log, chomp: true).filter_map { |l| collected(l) }.reject { |c| c.kind.start_with?("window") } : []
        [run, lines]
      end

      def collected(line)
        return unless (m = line.match(/\Akumi gc ([\d.]+)s (\S+).* live=([\d.]+)([KMG]?)->([\d.]+)([KMG]?).* pause=([\d.]+)ms/))
        bytes = ->(n, unit) { n.to_f * (UNITS[unit] || 1) }
        Collected.new(m[1].to_f, m[2], bytes.(m[3], m[4]), bytes.(m[5], m[6]), m[7].to_f)
      end

      # The share of what was allocated since the last node collection that a young one freed, over all young ones; with `late`, over those after
      # the first input's last byte was sent.
      def reclaimed(run, list, late: false)
        documents = run.raw["wire"].flat_map { |l| l["documents"] }
        from = late ? (documents.map { |d| d["last_ns"] }.min - run.raw["started_ns"]) / 1e9 : 0
        last = nil
        freed = allocated = 0.0
        list.each do |c|
          if c.kind == "young" && c.at >= from
            freed += c.before - c.after
            allocated += c.before - (last || 0)
          end
          last = c.after
        end
        allocated > 0 ? freed / allocated : nil
      end

      # What tables 3 to 5 tell, beside ours.
      def told(suite, report, scale, runs, found, sizes)
        usual = sizes.include?(4) ? 4 : sizes.first
        figure = { total: :total, collections: ->(x) { ((x.gc["young_ns"] || 0) + (x.gc["full_ns"] || 0)) / 1e6 }, memory: :peak }
        over = lambda do |mode, key|
          a, b = [mode, "ED"].map { |m| median(runs[[m, usual]], &figure[key]) }
          a && b && b > 0 ? a / b.to_f : nil
        end
        shares = KEPT.keys.to_h { |m| [m, found[[m, usual]].grep(Array).filter_map { |run, list| reclaimed(run, list, late: true) }] }
        report.note("Over ED's, young space #{usual} MB, beside the paper's table 3 (its memory is the least that the program needs, ours the highest resident) and what table 4 has of the server compiler. Freed by young collections: of what was allocated since the last one, once one input has ended, as in figure 14; `-`: there was none then:")
        report.table(["mode", "total", "paper's, table 3", "paper's, table 4", "collections' time", "paper's", "memory", "paper's", "freed by young %", "paper's"], KEPT.keys.map do |m|
          server = Paper::TABLE_4[m][0] / Paper::TABLE_4["ED"][0].to_f
          [m, *[over.(m, :total), Paper.over_ed(m, :total), server, over.(m, :collections), Paper.over_ed(m, :collections), over.(m, :memory), Paper.over_ed(m, :memory)].map { |v| v && format("%.3f", v) },
           shares[m].empty? ? nil : percent(Stats.median(shares[m])), Paper::FREED[m]&.to_s]
        end)
        rows = KEPT.keys.drop(2).unshift("SQ").flat_map { |m| %i[total collections memory].map { |k| ["#{m}, #{k}", [over.(m, k), Paper.over_ed(m, k)].map { |v| v && [v] }] } }
        report.plot("table3-#{scale}.svg", "Table 3", Plot.bars("Over event handlers, scale #{scale}", y: "over ED's", names: ["kumi", "paper, table 3"], rows: rows, bounds: [["ED", 1.0]]),
                    "Lower is better; 1 is event handlers by hand. Compare DD kept with DD cut: their difference is what cutting brings, in the paper and here. The collections of ours are those of all workers.") if rows.any? { |_, v| v[0] }
        ratio = lambda do |young|
          pairs = runs[["DD kept", young]].zip(runs[["DD cut", young]]).filter_map { |a, b| a.is_a?(Run) && b.is_a?(Run) && a.total / b.total }
          pairs.empty? ? nil : Stats.ratio(pairs)
        end
        chart = Plot.new("Total without cutting over that with it, scale #{scale}", x: "young space, MB", y: "DD kept over DD cut", x_scale: :log2, zero: false)
        chart.line("kumi", sizes.filter_map { |y| (r = ratio.(y)) && [y, *r] })
        chart.line("paper, table 5", Paper.kept_over_cut.map { |y, v| [y, v] })
        report.plot("table5-#{scale}.svg", "Table 5", chart, "At 1 cutting brings nothing; above 1 it saves that share of the time. The paper's line says that a large young space hides what lists that are not cut cost; a line of ours near 1 says that they cost nothing here at any size.") unless chart.empty?
        report.note("The paper's table 5 in ms, kept and cut: #{Paper::TABLE_5.map { |y, r| "#{y} MB #{r["DD kept"].total} and #{r["DD cut"].total}" }.join(", ")}; with survivors as large as the young space (its O1) #{Paper::O1["DD kept"].total} and #{Paper::O1["DD cut"].total}. Its sizes are those of Java's new generation.")
      end
    end
  end

  experiment "memory", "tables 3 to 5 and figure 14: collections with and without cutting, by the size of the young space", steady: true do |suite, report|
    report.section("Memory (tables 3 to 5, figure 14)", <<~TEXT)
      The join at 250 Mbps. `DD kept` reads the lists without cutting them and holds their documents, `DD cut` cuts as it reads. Collections of all workers by sort, and their time from request to resume; windows collected by one worker alone;
      the share of what had been allocated since the last one that a young collection freed; highest resident memory. KUMI_YOUNG is the young space.
    TEXT
    XML.prepare(suite)
    wire = XML::Wire.shared(250)
    sizes = suite.quick ? [4, 24] : [1, 4, 24, 64, 128]
    scales = suite.quick ? [0.01] : [0.01, 0.1]
    scales.each do |scale|
      items = sizes.flat_map { |y| XML::KEPT.keys.map { |m| [m, y] } }
      found = suite.rounds(items, reps: scale > 0.05 ? 1 : suite.options[:reps]) do |(mode, young), _|
        XML.watched(suite, mode, scale, wire, env: { "KUMI_YOUNG" => young.to_s })
      end
      runs = found.transform_values { |list| list.map { |r| r.is_a?(Array) ? r[0] : r } }
      XML.failures(report, runs)
      report.say("**Scale #{scale}**", "")
      report.table(["young space, mode", "total s", "young", "ms", "full", "ms", "windows", "ms", "freed by young %", "published %", "peak MB"], items.map do |mode, young|
        r = runs[[mode, young]]
        gc = ->(key, by = 1.0) { XML.median(r) { |x| x.gc[key] && x.gc[key] / by } }
        freed = found[[mode, young]].grep(Array).filter_map { |run, list| XML.reclaimed(run, list) }
        ["#{young} MB, #{mode}", XML.s(XML.median(r, &:total)), Bench.figure(gc.("young_count")), Bench.figure(gc.("young_ns", 1e6)), Bench.figure(gc.("full_count")), Bench.figure(gc.("full_ns", 1e6)),
         Bench.figure(gc.("window_count")), Bench.figure(gc.("window_ns", 1e6)), freed.empty? ? nil : XML.percent(Stats.median(freed)), XML.percent(XML.median(r, &:published)), Bench.mb(XML.median(r, &:peak))]
      end)
      XML.told(suite, report, scale, runs, found, sizes)
      chart = Plot.new("Live after each collection, scale #{scale}, young space 4 MB", x: "seconds", y: "live, MB")
      XML::KEPT.each_key do |m|
        list = found[[m, 4]].grep(Array).first&.last || []
        chart.line(m, list.map { |c| [c.at, c.after / 1e6] })
      end
      report.plot("memory-live-#{scale}.svg", "Figure 14", chart, "Lower is better. A line that climbs until a full collection is of a mode whose garbage young collections do not find; the paper's figure 14 (no figures in text) has DD kept climb after one input has ended, and DD cut stay level.") unless chart.empty?
      report.data["memory #{scale}"] = found.map { |i, list| { item: i, runs: list.map { |r| r.is_a?(Array) ? { run: r[0].to_h, collections: r[1].map(&:to_h) } : r } } }
    end
  end

  experiment "private", "where records are born and what becomes of them, by scheduling mode and by what reads them", steady: true do |suite, report|
    report.section("Private records", <<~TEXT)
      `programs/private.rb` over lineitem (and orders) at scale 0.01 from files: share of the cells' bytes born private (in the reader's own window) and, of these, what had to be published or was in use when the window was given up.
      Each row is read and dropped (each), goes through select and map, is joined with sorted orders (merge) or by hash (join, which keeps rows for a while).
    TEXT
    XML.prepare(suite)
    lines, orders = XML.document("lineitem", 0.01), XML.document("orders", 0.01)
    kinds, buffers = %w[each flow merge join], %w[small large paper adaptive]
    found = suite.rounds(kinds.product(buffers), reps: 1) { |(kind, buffer), _| XML.parse(suite, suite.argv(suite.kumi, "private", kind, buffer, lines, orders)) }
    XML.failures(report, found)
    share = lambda do |run|
      next nil unless run.is_a?(Hash)
      born = run["private_bytes"] + run["shared_bytes"]
      next nil unless born > 0
      "#{XML.percent(run["private_bytes"] / born.to_f)}; #{XML.percent((run["published_bytes"] + run["retired_bytes"]) / [run["private_bytes"], 1].max.to_f)}"
    end
    report.table(["born private %; of these published %", *buffers], kinds.map { |k| [k, *buffers.map { |b| share.(found[[k, b]].first) }] })
    report.data["private"] = found.map { |item, runs| { item: item, runs: runs } }
  end

  experiment "resident", "resident memory of the join over time, and above an idle runtime", steady: true do |suite, report|
    report.section("Resident memory over time", "The join at 140 Mbps, scale 0.01, looked at from outside every 20 ms.")
    XML.prepare(suite)
    chart = Plot.new("Resident memory, 140 Mbps", x: "seconds", y: "resident, MB")
    XML::KEPT.each do |name, words|
      points = XML.resident(suite, words)
      chart.line(name, points.map { |t, b| [t, b / 1e6] })
      report.data["resident #{name}"] = points
    rescue Child::Failed => e
      report.note("Failed: #{name}: #{e.message}")
    end
    report.plot("resident.svg", "Resident memory", chart, "Lower is better. Compare how high each line gets, and whether it keeps climbing once orders has ended and rows of lineitem are no longer kept.") unless chart.empty?
    idle = XML.idle(suite)
    found = suite.rounds([["DD adaptive", XML::Wire.shared(250)]], reps: 3) { |(m, w), _| XML.join(suite, m, 0.01, w) }
    peak = XML.median(found.values[0], &:peak)
    report.table(["what", "MB"], [["idle runtime, highest", Bench.mb(idle["peak"])], ["the same with kumihimo/xml and flow loaded", Bench.mb(idle["loaded"])], ["the join at 250 Mbps, highest", Bench.mb(peak)]])
    report.bound("peak memory of the join above the idle runtime", peak && (peak - idle["peak"]) / 1e6, 15, "MB")
  end

  # Resident memory of a join over time: [[seconds, bytes]].
  def XML.resident(suite, words)
    lines, orders = document("lineitem", 0.01), document("orders", 0.01)
    wire = server.wire
    child = suite.start(suite.kumi, words[0], *words.drop(1), *[lines, orders].map { |d| server.url(d, "wire=#{wire}&rate=140") })
    from = Bench.now
    points = []
    watch = Thread.new do
      while (bytes = child.memory_now("VmRSS"))
        points << [Bench.now - from, bytes]
        sleep 0.02
      end
    end
    child.rest(timeout: 60)
    watch.kill
    watch.join
    raise Child::Failed, child.why("failed") unless child.finish&.success?
    points
  end

  experiment "gigabyte", "constant memory over a document of 1 GB: extraction, and a join of sorted inputs that keeps neither side", steady: true do |suite, report|
    bytes = suite.quick ? 200_000_000 : 1_000_000_000
    report.section("A document of #{bytes / 1_000_000} MB", "Extraction of 16 fields from a file, and the merge join of lineitem with orders, neither side kept. Resident memory when a tenth, two tenths, ... of the rows were read.")
    XML.prepare(suite)
    scale = suite.quick ? 0.07 : 0.33
    lines, orders = XML.document("lineitem", scale, bytes), XML.document("orders", scale)
    rows = [["extract", [lines]], ["merge", [lines, orders]]].map do |mode, files|
      told = XML.parse(suite, suite.argv(suite.kumi, "big", mode, *files), timeout: 600)
      report.data["gigabyte #{mode}"] = told
      seen = told["resident"]
      # Between two collections memory grows: the highest of the second half against the highest of the first.
      report.bound("#{mode} over #{bytes / 1_000_000} MB: resident in the second half over the first", seen.size > 4 ? seen.drop(seen.size / 2).max / seen.first(seen.size / 2).max.to_f : nil, 1.05, "x")
      [mode, Bench.figure(told["count"]), XML.s(told["s"]), Bench.figure(files.sum { |f| File.size(f) } / told["s"] / 1e6), *seen.values_at(0, 1, 4, 8, -1).map { |b| Bench.mb(b) }, Bench.mb(told["peak"])]
    rescue Child::Failed => e
      [mode, e.message]
    end
    report.table(["program", "rows or pairs", "s", "MB/s", "1/10", "2/10", "5/10", "9/10", "end", "peak MB"], rows)
  end
end
