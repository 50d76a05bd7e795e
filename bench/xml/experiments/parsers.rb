# Throughput of the tokeniser and of typed extraction, and the join from files, beside the peers.
module Bench
  experiment "parsers", "tokenising, typed extraction and the join from files, beside the peers" do |suite, report|
    report.section("Parsers", <<~TEXT)
      From files in the page cache, lineitem (and orders) at scale 0.01. T: all events. E: 16 typed fields a row, mixed to a checksum by value and order; P: the same with a plain sum of the values and sizes, which Ruby and Python can afford.
      J: symmetric hash join on the order key, both sides kept to the end (kumi's operators free one side when the other input has ended). Each in a process of its own that takes its time from before it opens the file; MB of XML per second. All checksums of a mode must be the same.
    TEXT
    XML.prepare(suite)
    lines, orders = XML.document("lineitem", 0.01), XML.document("orders", 0.01)
    cut = suite.quick ? XML.document("lineitem", 0.01, 2_000_000) : lines
    peers = XML.peers(suite)
    XML.missing.each { |m| report.note("Absent: #{m}.") }
    own = suite.kumi
    program = ->(name) { ->(*w) { suite.argv(own, name, *w) } }
    items = peers.flat_map { |p| p.modes.map { |m| [p.name, m, p] } }
    items << ["kumi, extract.rb", "P", XML::Peer.new("kumi, extract.rb", "ruby", %w[P], false, 1, ->(_, *w) { program["extract"].(*w) })]
    items << ["kumi, dd.rb", "J", XML::Peer.new("kumi, dd.rb", "ruby", %w[J], false, 1, ->(_, *w) { program["dd"].("adaptive", *w) })]
    found = suite.rounds(items) do |(_, mode, peer), round|
      next nil if peer.slow && round > 0
      files = mode == "J" ? [lines, orders] : [peer.slow ? cut : lines]
      told = XML.parse(suite, peer.argv.(mode, *files), env: peer.rounds > 1 ? { "ROUNDS" => peer.rounds.to_s } : {})
      XML.agree(["parsers", mode, *files.map { |f| File.basename(f) }], told["sum"]) unless mode == "T"
      told["s"] ||= (told["end_ns"] - told["begun_ns"]) / 1e9
      told["first_s"] ||= told["first_ns"] && (told["first_ns"] - told["begun_ns"]) / 1e9
      told["bytes"] ||= files.sum { |f| File.size(f) }
      told
    end
    XML.failures(report, found)
    by = found.to_h { |(name, mode, _), runs| [[name, mode], runs.grep(Hash)] }
    figure = ->(name, mode, &read) { (list = by[[name, mode]]&.filter_map(&read)) && !list.empty? ? Stats.median(list) : nil }
    rate = ->(name, mode) { figure.(name, mode) { |r| r["bytes"] / r["s"] / 1e6 } }
    names = items.map(&:first).uniq
    report.table(["parser", "T MB/s", "E MB/s", "P MB/s", "J ms", "J first ms", "J peak MB"], names.map do |n|
      [n, *%w[T E P].map { |m| Bench.figure(rate.(n, m)) }, XML.ms(figure.(n, "J") { |r| r["s"] }), XML.ms(figure.(n, "J") { |r| r["first_s"] }),
       Bench.mb(figure.(n, "J") { |r| r["peak"] })]
    end)
    # The two lists come from the same rounds, in turn.
    paired = lambda do |a, mode, b, other = mode|
      pairs = (by[[a, mode]] || []).zip(by[[b, other]] || []).filter_map { |x, y| x && y && (x["bytes"] / x["s"]) / (y["bytes"] / y["s"]) }
      pairs.empty? ? nil : Stats.ratio(pairs)
    end
    compared = [["tokenising, kumi-xml over quick-xml", paired.(XML::OWN, "T", XML::QUICK_XML), 1.3], ["extraction in Rust, kumi-xml over quick-xml", paired.(XML::OWN, "E", XML::QUICK_XML), 2],
                ["extraction from Ruby, kumi over Ox", paired.("kumi, extract.rb", "P", XML::OX), 3]]
    report.table(["times as fast, in pairs", "mean (95 % interval)"], compared.map { |name, r, _| [name, XML.interval(r)] })
    compared.each { |name, r, least| report.bound(name, r && r[0], least, "x", least: true) }
    rows = names.map { |n| [n, %w[T E P].map { |m| rate.(n, m)&.then { |v| [v] } }] }
    report.plot("parsers.svg", "Parsers", Plot.bars("Throughput", y: "MB/s", names: %w[T E P], rows: rows), "Higher is better. Compare bars of one letter: T is all events, E and P are 16 fields of a row made into values, P with a sum that Ruby and Python can afford, so that a library from Ruby is compared with others from Ruby.") unless by.values.all?(&:empty?)
    report.data["parsers"] = items.map { |i| { name: i[0], mode: i[1], runs: found[i] } }
  end

  experiment "unpaced", "the join over loopback as fast as it goes, beside Ox" do |suite, report|
    report.section("The join, unpaced, beside Ox", "Both documents over loopback HTTP without pacing; Ox reads them in two fibers, 64 KB in turn, a hash on each side.")
    XML.prepare(suite)
    wire = XML::Wire.shared(nil)
    lines, orders = XML.document("lineitem", 0.01), XML.document("orders", 0.01)
    items = [*XML::MODES.keys, *XML.peers(suite).select { |p| p.kind == "ruby" && p.modes.include?("J") }]
    found = suite.rounds(items) do |item, _|
      next XML.join(suite, item, 0.01, wire) unless item.is_a?(XML::Peer)
      name = XML.server.wire
      told = XML.parse(suite, item.argv.("J", *[lines, orders].map { |d| XML.server.url(d, "wire=#{name}") }))
      XML.agree(["join", 0.01], [told["count"], told["sum"]])
      XML::Run.new(told["s"], nil, nil, told["first_s"], nil, nil, told["peak"], {}, nil, told)
    end
    XML.failures(report, found)
    label = ->(i) { i.is_a?(XML::Peer) ? i.name : "kumi, #{i}" }
    report.table(["program", "total ms", "first ms after the request", "peak MB"], items.map do |i|
      r = found[i]
      [label.(i), XML.ms(XML.median(r, &:total)), XML.ms(XML.median(r, &:first_asked)), Bench.mb(XML.median(r, &:peak))]
    end)
    ox = items.find { |i| i.is_a?(XML::Peer) && i.name == XML::OX }
    r = ox && XML.ratio(found, ox, XML::OURS, &:total)
    report.bound("unpaced join, times as fast as Ox on CRuby", r && r[0], 4, "x", least: true)
    report.data["unpaced"] = XML.raw(found)
  end
end
