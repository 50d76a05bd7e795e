# Joins over wires: how both documents come (a Wire), which program joins them (a mode), and what one run came to.
module Bench
  module XML
    # SQ: whole trees first. ED: event handlers, two threads, a table under a lock. DD: by demand, by buffer.
    MODES = { "SQ" => %w[sq], "ED" => %w[ed], "DD small" => %w[dd small], "DD large" => %w[dd large], "DD paper" => %w[dd paper],
              "DD adaptive" => %w[dd adaptive] }.freeze
    OURS = "DD adaptive".freeze

    # How two documents come. `lines` and `orders` are what the server is asked for beside the wire's name (empty: unpaced); with `own`
    # each has its own wire. `stall` are the seconds of silence of each.
    Wire = Struct.new(:name, :lines, :orders, :own, :stall) do
      def self.shared(rate) = new(rate ? "#{rate} Mbps" : "unpaced", rate ? "rate=#{rate}" : "", rate ? "rate=#{rate}" : "", false, [0, 0])
      def paced? = !lines.empty?
    end

    # One run. Seconds: `total` since the request; `first` since the wire's first byte, `first_both` since the first byte of the input that
    # came last, `first_asked` since the request; `wire` is the time the wire needs for it all.
    Run = Struct.new(:total, :first, :first_both, :first_asked, :wire, :wire_seen, :peak, :gc, :cpu, :raw) do
      def over = wire && wire > 0 ? total / wire : nil
      # Shares of the cells' bytes: born in windows, and of these published.
      def born_private = share(gc["private_bytes"], (gc["private_bytes"] || 0) + (gc["shared_bytes"] || 0))
      def published = share((gc["published_bytes"] || 0) + (gc["retired_bytes"] || 0), gc["private_bytes"])

      def share(part, whole) = part && whole && whole > 0 ? part / whole.to_f : nil
    end

    module_function

    # Runs a mode once over a wire. All runs of a scale must find the same pairs.
    def join(suite, mode, scale, wire, env: {}, program: nil, gc_log: nil)
      lines, orders = document("lineitem", scale), document("orders", scale)
      names = [server.wire]
      names << (wire.own ? server.wire : names[0])
      urls = [[lines, wire.lines], [orders, wire.orders]].zip(names).map { |(d, q), n| server.url(d, ["wire=#{n}", q].reject(&:empty?).join("&")) }
      words = program || MODES.fetch(mode)
      result = suite.run(suite.kumi, words[0], *words.drop(1), *urls, env: gc_log ? env.merge("KUMI_GC_LOG" => "#{gc_log}") : env, timeout: 600)
      raise Child::Failed, result.why unless result.ok?
      told = JSON.parse(result.out.lines.last.to_s)
      agree(["join", scale], [told["count"], told["sum"]])
      made(told, names.uniq.map { |n| server.log(n) }, wire, result.cpu)
    rescue JSON::ParserError
      raise Child::Failed, "printed #{result.out.to_s[-80..] || result.out.to_s}"
    end

    def made(told, logs, wire, cpu)
      documents = logs.flat_map { |l| l["documents"] }
      first = documents.map { |d| d["first_ns"] }
      last = documents.map { |d| d["last_ns"] }.max
      seconds = ->(a, b) { a && b ? (a - b) / 1e9 : nil }
      need = wire.paced? ? logs.zip(wire.stall).map { |l, stall| l["ideal_s"] + stall }.max : nil
      Run.new(seconds.(told["end_ns"], told["begun_ns"]), seconds.(told["first_ns"], first.min), seconds.(told["first_ns"], first.max),
              seconds.(told["first_ns"], told["begun_ns"]), need, seconds.(last, first.min), told["peak"], told["gc"] || {}, cpu, told.merge("wire" => logs))
    end

    # What is known of scale 0.01; for other documents all must say what the first one said.
    KNOWN = { ["join", 0.01] => [60_175, "21754130662749"], ["parsers", "E", "lineitem-0.01.xml"] => "cd1c914cab3ddf64",
              ["parsers", "P", "lineitem-0.01.xml"] => "218769118529", ["parsers", "J", "lineitem-0.01.xml", "orders-0.01.xml"] => "21754130662749" }.freeze

    def agree(key, found)
      @found ||= KNOWN.dup
      known = (@found[key] ||= found)
      raise Child::Failed, "found #{found.inspect} instead of #{known.inspect} (#{key.join(" ")})" unless known == found
    end

    # Highest memory of a runtime that has done nothing.
    def idle(suite)
      @idle ||= begin
        result = suite.run(suite.kumi, "idle")
        raise Child::Failed, result.why unless result.ok?
        JSON.parse(result.out)
      end
    end

    # The median of a figure of the runs that have it.
    def median(runs, &read)
      list = (runs || []).grep(Run).filter_map(&read)
      list.empty? ? nil : Stats.median(list)
    end

    # One mode's figure over another's, in pairs of one round: [ratio, low, high], or nil.
    def ratio(found, item, other, &read)
      pairs = (found[item] || []).zip(found[other] || []).filter_map { |a, b| a.is_a?(Run) && b.is_a?(Run) && read.(a) / read.(b) }
      pairs.empty? ? nil : Stats.ratio(pairs)
    end

    def interval(r) = r && (r[1] == r[2] ? format("%.3f", r[0]) : format("%.3f (%.3f to %.3f)", *r))
    def ms(seconds) = seconds && format(seconds < 0.01 ? "%.2f" : "%.1f", seconds * 1e3)
    def s(seconds) = seconds && format("%.3f", seconds)
    def percent(share) = share && format("%.1f", share * 100)

    # Says what failed, once for each reason.
    def failures(report, found)
      found.flat_map { |item, runs| runs.grep(String).map { |why| [Array(item).map { |i| i.respond_to?(:name) ? i.name : i }.join(", "), why] } }
           .uniq { |_, why| why }.each { |item, why| report.note("Failed: #{item}: #{why}") }
    end

    def raw(found) = found.map { |item, runs| { item: Array(item).map { |i| i.respond_to?(:name) ? i.name : i }, runs: runs.map { |r| r.is_a?(Run) ? r.to_h : r } } }
  end
end
