# The page's rows: what is compared, and where each column's figure stands in a kept result. A column is one of COLUMNS; what a runtime cannot do, or
# nobody has measured, is nil.
require_relative "../lib/stats"

module Compare
  COLUMNS = ["kumi", "CRuby", "CRuby, YJIT", "JRuby", "Go", "Erlang", "Rust or C"].freeze

  # `figures` by column, and "quick" where a quick run gave them; `more`: a higher figure is better. `note` says what of the work is not the same.
  Row = Struct.new(:group, :name, :unit, :figures, :more, :note) do
    def known? = COLUMNS.any? { |c| figures[c] }
    def quick? = figures["quick"]

    # How many times as good kumi is as a column: above 1 kumi wins.
    def gain(column)
      own, other = figures["kumi"], figures[column]
      return unless own && other && own.positive? && other.positive?
      more ? own / other.to_f : other / own.to_f
    end

    def best = COLUMNS.drop(1).filter_map { |c| (g = gain(c)) && [c, g] }.min_by(&:last)
  end

  # Of CRuby, as the results have them.
  VERSIONS = []

  # The column of a runtime as the commands name it.
  def self.column(runtime)
    case runtime
    when "kumi", "default" then "kumi"
    when /\Aruby ([\d.]+)\z/
      VERSIONS << $1 unless VERSIONS.include?($1)
      "CRuby"
    when /\Aruby [\d.]+ YJIT\z/ then "CRuby, YJIT"
    when "JRuby", "Go" then runtime
    when "BEAM" then "Erlang"
    end
  end

  # { column => figure } of [[runtime, figure], ...]; what failed is text, and what a compiler has left out takes no time.
  def self.columns(pairs) = pairs.filter_map { |runtime, v| v.is_a?(Numeric) && v.positive? && (c = column(runtime)) && [c, v] }.to_h

  # Of a list of { case: [label, runtime], ns: figure }: the row of a label, or of one for each column.
  def self.cases(list, label)
    columns(list.filter_map { |c| name, runtime = c["case"]; [runtime, c["ns"]] if name == (label.is_a?(Hash) ? label[column(runtime)] : label) })
  end

  # Medians of a turn's 50th percentiles in microseconds, by column.
  def self.turns(list, names)
    names.filter_map do |column, name|
      rounds = list.find { |t| t["turn"] == name }&.fetch("ns")&.grep(Array)
      [column, Bench::Stats.median(rounds.map(&:first)) / 1000.0] if rounds && !rounds.empty?
    end.to_h
  end

  # A list of rows from what is kept; those without any figure too, so that the page says so.
  class Rows
    def initialize(kept) = @kept = kept

    def all = [*programs, *threads, *heap, *xml, *segments, *calls]

    private

    # The figures that a result gives to the block, or none.
    def figures(bench, experiment)
      result = @kept[bench, experiment]
      result ? yield(result.data).merge("quick" => result.quick) : {}
    end

    def programs
      told = @kept.programs&.data || []
      sets = { "programs of are-we-fast-yet" => ->(n) { n.start_with?("awfy") }, "programs of our own list" => ->(n) { !n.start_with?("awfy") } }
      sets.map do |name, pick|
        rows = told.select { |r| pick.(r["name"]) && r["same"] && r["times"].values_at("kumi", "ruby").all? }
        means = { "kumi" => "kumi", "CRuby" => "ruby", "CRuby, YJIT" => "ruby --yjit", "JRuby" => "jruby" }.filter_map do |column, key|
          list = rows.filter_map { |r| r["times"][key] }
          [column, Bench::Stats.geomean(list.map { |t| [t, 0.001].max })] if !rows.empty? && list.size == rows.size
        end.to_h
        Row.new("Single-threaded programs", "#{rows.empty? ? "" : "#{rows.size} "}#{name}", "s, geometric mean", means.merge("quick" => @kept.programs&.quick && !means.empty?))
      end
    end

    def threads
      group = "Threads and fibers"
      memory = figures("threads", "memory") do |list|
        high = ->(r, n) { (v = list.find { |x| x["runtime"] == r && x["threads"] == n }&.fetch("result")).is_a?(Array) ? v[1] : nil }
        Compare.columns(list.map { |x| x["runtime"] }.uniq.map { |r| a, b = high.(r, 0), high.(r, 10_000); [r, a && b && (b - a) / 10_000.0] })
      end
      start = figures("threads", "spawn-join") { |l| Compare.cases(l, "single, 1 worker") }
      # The machine itself, between two threads of the system: by futex on one processor, and on two.
      one, two = { "block, 1 worker" => 2, "block, 2 workers" => 0 }.map { |label, i| figures("threads", "pingpong") { |d| Compare.cases(d["cases"], label).merge("Rust or C" => d["handover"].is_a?(Array) ? d["handover"][i] : nil) } }
      fiber = figures("threads", "fiber") { |l| Compare.cases(l, "Fiber resume + yield") }
      locked = figures("threads", "mutex") { |l| Compare.cases(l, "8 threads, 2 workers") }
      late = figures("threads", "fairness") { |l| Compare.columns(l.map { |x| [x["runtime"], x["us"].is_a?(Array) ? x["us"][2] / 1000.0 : nil] }) }
      echo = figures("threads", "server") { |d| Compare.columns(d["results"].map { |x| [x["runtime"], x["result"].is_a?(Array) ? x["result"][0] : nil] }) }
      [Row.new(group, "memory of a sleeping thread (of 10,000)", "B", memory), Row.new(group, "a thread's start and join", "ns", start), Row.new(group, "hand-over there and back, one worker", "ns", one, false, "Between tasks of one worker (Go and Erlang: one as well); CRuby's threads take turns under its lock. C: two threads of the system by futex on one processor."),
       Row.new(group, "hand-over there and back, two workers", "ns", two, false, "kumi keeps a pair that waits for each other on one worker, so this is not a way between two processors. C: by futex between two."), Row.new(group, "a fiber's resume and yield", "ns", fiber), Row.new(group, "a mutex wanted by eight threads", "ns", locked),
       Row.new(group, "longest lateness of a 1 ms sleeper beside computing threads", "ms", late), Row.new(group, "memory of an idle connection", "B", echo)]
    end

    def heap
      group = "Objects and collections"
      served = figures("heap", "peers") do |list|
        Compare.columns(list.select { |x| x["workers"] == 2 }.map { |x| t = x["runs"].grep(Hash).filter_map { |r| r["tps"] }; [x["runtime"], t.empty? ? nil : Bench::Stats.median(t)] })
      end
      rows = [Row.new(group, "two warehouses on two cores", "transactions/s", served, true, "The same transactions and checksum; Go's program is written anew.")]
      { "Object.new" => "making an object", "[a, b]" => "making an array of two", "string, interpolated" => "making an interpolated string" }.each do |kind, name|
        cost = figures("heap", "alloc") do |list|
          Compare.columns(list.select { |x| x["threads"] == 1 }.map { |x| t = x["runs"].grep(Hash).filter_map { |r| r[kind] }; [x["runtime"], t.empty? ? nil : Bench::Stats.median(t)] })
        end
        rows << Row.new(group, name, "ns", cost, false, ("JRuby's compiler leaves out objects that nobody looks at: there is no figure where it left out all." if rows.size == 1))
      end
      rows
    end

    def xml
      group = "XML"
      speed = lambda do |mode, names|
        figures("xml", "parsers") do |list|
          names.filter_map do |column, prefix|
            best = list.select { |x| x["mode"] == mode && x["name"].start_with?(*prefix) }.filter_map { |x| t = x["runs"].grep(Hash); t.empty? ? nil : Bench::Stats.median(t.map { |r| r["bytes"] / r["s"] / 1e6 }) }.max
            best && [column, best]
          end.to_h
        end
      end
      others = ["quick-xml", "libxml2", "expat"]
      [Row.new(group, "16 typed fields of each row, from Ruby", "MB/s", speed.("P", "kumi" => ["kumi, extract.rb"], "CRuby" => ["Ox", "Nokogiri", "REXML"], "Rust or C" => others), true, "CRuby with its fastest library; Rust or C: the fastest of quick-xml, libxml2 and expat."),
       Row.new(group, "all events, from Rust", "MB/s", speed.("T", "kumi" => ["kumi-xml"], "CRuby" => ["Ox", "Nokogiri", "REXML"], "Rust or C" => others), true, "kumi's parser as a Rust library; CRuby's libraries from Ruby.")]
    end

    def segments
      group = "Handing over and other nodes"
      local = figures("segments", "local") { |l| Compare.cases(l, { "kumi" => "put + take by key", "CRuby" => "Queue push + pop", "CRuby, YJIT" => "Queue push + pop", "JRuby" => "Queue push + pop", "Go" => "mailbox, channel", "Erlang" => "mailbox, channel" }) }
      remote = figures("segments", "remote") { |l| Compare.turns(l, "kumi" => "kumi put", "CRuby" => "Rinda write", "Erlang" => "BEAM send, receive", "Rust or C" => "Redis RPUSH") }
      [Row.new(group, "put and take on one node", "ns", local, false, "A segment's put and take beside a `Queue`, a channel and a mailbox, which have no keys, leases or places."),
       Row.new(group, "acknowledged put of 64 B on another node", "µs", remote, false, "Erlang: 64 B there and back; CRuby: Rinda; Redis (C): RPUSH, nothing kept on disk.")]
    end

    def calls
      call = figures("remote", "calls") { |l| Compare.turns(l, "kumi" => "kumi call", "CRuby" => "DRb call", "Erlang" => "BEAM erpc") }
      [Row.new("Handing over and other nodes", "a call of another node's object", "µs", call, false, "CRuby: DRb; Erlang: `erpc:call`.")]
    end
  end
end
