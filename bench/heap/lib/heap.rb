# What the heap's experiments share: the set of programs, the settings they are run under, and the figures of one run, which the
# runtime may not have: what is absent is nil, and nothing is made of it.
module Bench
  module Heap
    # Programs of the set, with the sizes of a full run, of a quick one, and of one under callgrind.
    SET = { "expert" => [40, 6, 2], "db" => [20, 3, 1], "raytrace" => [26, 8, 4], "compiler" => [24, 3, 1], "parsergen" => [20, 3, 1] }.freeze

    OFF = { "KUMI_TLH" => "off" }.freeze

    # Strategies of allocation: what is decided where an object is born, in the order of the paper's figure 6. The last two are
    # static and history, by the failure ratio from which on a site goes to the shared heap.
    STRATEGIES = {
      "none" => { "KUMI_TLH_SITES" => "none" },
      "static" => { "KUMI_TLH_SITES" => "static" },
      "1/16" => { "KUMI_TLH_SITES" => "history", "KUMI_TLH_RATIO" => "16" },
      "1/4" => { "KUMI_TLH_SITES" => "history", "KUMI_TLH_RATIO" => "4" }
    }.freeze

    # Perfect foresight, by counting: everything is born in the widest nurseries, no site is ever sent elsewhere, and what is never
    # published is what foresight would have put there.
    IDEAL = { "KUMI_TLH_SITES" => "none", "KUMI_WINDOW" => "256" }.freeze

    # One run: figures of GC.stat between two moments, its time, and what a program says of itself.
    Run = Struct.new(:gc, :seconds, :cpu, :checksum, :tps, :memory, :raw) do
      def [](key) = gc[key]

      def allocated = self["private_bytes"] && self["shared_bytes"] && self["private_bytes"] + self["shared_bytes"]
      def misspeculated = self["published_bytes"] && self["retired_bytes"] && self["published_bytes"] + self["retired_bytes"]

      # Bytes that foresight would have given nurseries: all that was never published.
      def ideal = self["private_bytes"] && self["published_bytes"] && self["private_bytes"] - self["published_bytes"]

      # Shares of the allocated bytes: freed by window collections, allocated there in vain, born outside.
      def fates
        return nil unless allocated && allocated > 0 && misspeculated && self["window_freed_bytes"]
        [self["window_freed_bytes"], misspeculated, self["shared_bytes"]].map { |b| b / allocated.to_f }
      end

      # Node collections, and the seconds all stood still for them. CRuby and Go tell milliseconds as `time`.
      def stops = self["count"]

      def stopped
        return (self["young_ns"] + self["full_ns"]) / 1e9 if self["young_ns"] && self["full_ns"]
        self["time"] && self["time"] / 1e3
      end

      def young = self["young_count"] || self["minor_gc_count"]
      def full = self["full_count"] || self["major_gc_count"]

      # The share of the time in which nobody stood still for a collection.
      def client = stopped && seconds && [1 - stopped / seconds, 0.0].max
    end

    module_function

    def workers(n) = { "KUMI_WORKERS" => n.to_s, "GOMAXPROCS" => n.to_s }

    # kumi under some settings, as a runtime of its own.
    def variant(suite, name, env) = Runtime.new(name, "rb", suite.kumi.command, env)

    def default(suite) = variant(suite, "default", {})
    def off(suite) = variant(suite, "off", OFF)

    # Runs a program of the set to its end with GC.stat taken around it. All runs of one size must agree in their checksum.
    def measured(suite, program, size, env: {}, runtime: suite.kumi)
      result = suite.run(runtime, "measure", "#{program}.rb", size, env: env, timeout: 300)
      raise Child::Failed, result.why unless result.ok?
      checksum = result.out[/^checksum (\d+)/, 1] or raise Child::Failed, "printed no checksum"
      agree([program, size], checksum)
      line = File.read(suite.last_errors).scrub("?").lines.grep(/\A\{/).last or raise Child::Failed, "told nothing of its collections"
      told = JSON.parse(line)
      Run.new(told["gc"], told["seconds"], result.cpu, checksum, nil, nil, told)
    end

    # Runs the warehouse program; `words` are its arguments. With a fixed number of transactions all runtimes must agree.
    def warehouse(suite, runtime, env: {}, **words)
      result = suite.run(runtime, "warehouse", *words.map { |k, v| "#{k}=#{v}" }, env: env, timeout: 600)
      raise Child::Failed, result.why unless result.ok?
      told = JSON.parse(result.out)
      agree(["warehouse", words.sort], told["checksum"]) unless words[:seconds]
      Run.new(told["gc"], told["seconds"], told["gc"]["cpu_s"], told["checksum"], told["tps"], told["memory"], told)
    rescue JSON::ParserError
      raise Child::Failed, "printed #{result.out[0, 60].inspect}"
    end

    def agree(key, checksum)
      @checksums ||= {}
      known = (@checksums[key] ||= checksum)
      raise Child::Failed, "checksum #{checksum}, but #{known} before: #{key.flatten.join(" ")}" unless known == checksum
    end

    def size(suite, program) = SET.fetch(program)[suite.quick ? 1 : 0]

    # The memory that every collector may use for the warehouses, as KUMI_HEAP_MAX has it.
    def budget(suite) = { "KUMI_HEAP_MAX" => "#{suite.options[:budget] || 240}M" }

    # How many transactions all warehouses serve together.
    def transactions(suite, count) = ((suite.quick ? 20_000 : 60_000) * suite.scale / count).ceil

    # Medians of the runs' figures: `read` gives one from each run. nil where a run failed or a figure is absent.
    def median(runs, &read)
      return nil if runs.nil? || runs.any?(String)
      list = runs.map(&read)
      list.any?(&:nil?) ? nil : Stats.median(list)
    end

    def failures(report, found)
      found.each { |item, runs| (why = runs.find { |r| r.is_a?(String) }) && report.note("Failed: #{Array(item).map { |i| i.respond_to?(:name) ? i.name : i }.join(", ")}: #{why}") }
    end

    def percent(share) = share && format("%.1f", share * 100)

    # The duration in milliseconds below which the share `q` of a histogram { upper microseconds => count } lies.
    def percentile(histogram, q)
      total = histogram&.values&.sum.to_i
      return nil if total.zero?
      wanted = (total * q).ceil
      seen = 0
      at = histogram.sort_by { |k, _| k.to_f }.find { |_, n| (seen += n) >= wanted }
      at[0].to_f / 1000
    end
  end
end
