# Inputs that don't come alike: unequal rates, a rate that changes midway, an input that stalls.
module Bench
  module XML
    # Own wires carry what the name says; 32.24 MB and 5.30 MB.
    UNEVEN = [
      Wire.new("orders slow: 140 and 21 Mbps", "rate=140", "rate=21", true, [0, 0]),
      Wire.new("lineitem slow: 68 and 250 Mbps", "rate=68", "rate=250", true, [0, 0]),
      Wire.new("44, from 1.7 s on 250 Mbps", "rate=44,1.7:250", "rate=44,1.7:250", false, [0, 0]),
      Wire.new("250, from 0.6 s on 44 Mbps", "rate=250,0.6:44", "rate=250,0.6:44", false, [0, 0]),
      Wire.new("orders stalls 1 s at 1 MB: 120 and 20 Mbps", "rate=120", "rate=20&stall=1000000:1", true, [0, 1]),
      Wire.new("lineitem stalls 1 s at 10 MB: 120 and 20 Mbps", "rate=120&stall=10000000:1", "rate=20", true, [1, 0])
    ].freeze
  end

  experiment "uneven", "unequal rates, a rate that changes midway, an input that stalls" do |suite, report|
    report.section("Inputs that don't come alike", <<~TEXT)
      The same join, scale 0.01. Where two rates are given each input has a wire of its own, and the wire's time is that of the one that takes longer; a rate that changes is that of one wire that both share.
    TEXT
    XML.prepare(suite)
    modes = suite.quick ? ["ED", XML::OURS] : XML::MODES.keys
    wires = suite.quick ? XML::UNEVEN.values_at(0, 2, 4) : XML::UNEVEN
    found = suite.rounds(wires.flat_map { |w| modes.map { |m| [m, w] } }) { |(mode, wire), _| XML.join(suite, mode, 0.01, wire) }
    XML.failures(report, found)
    { "First result, ms after the first byte of the input that came last" => [XML.method(:ms), :first_both], "Total, s" => [XML.method(:s), :total],
      "Highest memory, MB" => [Bench.method(:mb), :peak] }.each do |title, (form, read)|
      report.say("**#{title}**", "")
      report.table(["inputs", "wire's time, s", *modes], wires.map { |w| [w.name, XML.s(modes.filter_map { |m| XML.median(found[[m, w]], &:wire) }.first), *modes.map { |m| form.(XML.median(found[[m, w]], &read)) }] })
    end
    ours = modes.select { |m| m.start_with?("DD") }
    report.say("**Total over ED's, in pairs**", "")
    report.table(["inputs", *ours], wires.map { |w| [w.name, *ours.map { |m| XML.interval(XML.ratio(found, [m, w], ["ED", w], &:total)) }] })
    rows = wires.map { |w| [w.name[/\A[^:]*/], modes.map { |m| XML.median(found[[m, w]], &:over)&.then { |v| [v] } }] }
    report.plot("uneven.svg", "Uneven inputs", Plot.bars("Total over the wire's own time", y: "ratio", names: modes, rows: rows, base: 1.0), "Lower is better; 1 is what the wire itself needs. A mode that waits for one input while the other has come stands above the others of its group. The paper proposes to follow changing rates and has no figures of it.") unless rows.all? { |_, v| v.compact.empty? }
    report.data["uneven"] = XML.raw(found)
  end
end
