# frozen_string_literal: true

require "json"
require "timeout"
require "kumihimo/web"

module Kumihimo
  module Segments
    # A node's pages.
    class Page
      FILES = { "/" => ["page.html", "text/html"], "/page.js" => ["page.js", "text/javascript"], "/page.css" => ["page.css", "text/css"] }.freeze
      OPEN = %w[/healthz /readyz].freeze
      DEAD = 50
      # Seconds.
      PERIOD = 1.0
      private_constant :FILES, :OPEN, :DEAD, :PERIOD

      def initialize(address, token)
        @token = token || SecureRandom.hex(16)
        raise ArgumentError, "a token is 8 letters and digits or more" unless @token.match?(/\A\h{8,}\z|\A[\w-]{8,}\z/)
        @web = Web.new(address, token: @token, open: OPEN) { |request| answer(request) }
        @views = {}
        @lock = Mutex.new
      end

      def start = "#{@web.start.url}?token=#{@token}"

      private

      def answer(request)
        return act(request) if request.post?
        raise Web::Refused, 405 unless request.get?
        case request.path
        when "/healthz" then [200, "text/plain", "alive\n"]
        when "/readyz" then ready
        when "/metrics" then [200, "text/plain; version=0.0.4", Metrics.text]
        when "/state" then [200, "application/json", view(request.query["part"].to_s)]
        when "/events" then events(request.query["part"].to_s)
        else file(request.path)
        end
      end

      def file(path)
        name, type = FILES[path] || raise(Web::Refused, 404)
        [200, type, Assets.const_get(name.delete_suffix(File.extname(name)).upcase + File.extname(name).delete(".").upcase)]
      end

      def ready
        why = Segments.not_ready
        why ? [503, "text/plain", "#{why}\n"] : [200, "text/plain", "ready\n"]
      end

      def events(part)
        Web::Stream.new do |&write|
          loop do
            write.call("data: #{view(part)}\n\n")
            sleep PERIOD
          end
        end
      end

      # Whoever looks at the same keys within a moment sees the same: looking on costs no more for many than for one, and at most a
      # hundredth of the time, however many keys there are.
      def view(part)
        @lock.synchronize do
          now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          @views.delete_if { |_, view| now - view.at > KEPT * 2 }
          view = @views[part] ||= View.new(State.new)
          if now - view.at > view.good_for
            view.text = JSON.generate(view.state.now(part))
            view.at = now
            view.good_for = [PERIOD * 0.9, (Process.clock_gettime(Process::CLOCK_MONOTONIC) - now) * 100].max.clamp(0, KEPT)
          end
          view.text
        end
      end

      View = Struct.new(:state, :text, :at, :good_for) do
        def initialize(state) = super(state, nil, -Float::INFINITY, 0)
      end
      # Seconds.
      KEPT = 10
      private_constant :View, :KEPT

      def act(request)
        key, index = request.form.values_at("key", "index")
        raise Web::Refused, 400 unless key && index.to_s.match?(/\A\d{1,18}\z/)
        done = case request.path
               when "/put_back" then Look.put_back(key, index.to_i)
               when "/forget" then Look.forget(key, index.to_i)
               else raise Web::Refused, 404
               end
        done ? [200, "application/json", "true"] : [404, "application/json", "false"]
      end
    end

    # How the node stands, with rates since the state before.
    class State
      def initialize
        @counts = Look.survey("", 0)[:counts]
        @at = clock
        @started = Process.clock_gettime(Process::CLOCK_REALTIME) - Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
      end

      # part: of the names of keys that are listed.
      def now(part)
        survey = Look.survey(part, 100)
        at = clock
        span = [at - @at, 0.001].max
        rates = survey[:counts].to_h { |what, count| [what, ((count - @counts[what]) / span).round] }
        @counts, @at = survey[:counts], at
        stat, gc = Segments.stat, GC.stat
        {
          node: Segments.node || "alone", pid: Process.pid, part:, at: Time.now.to_f, nodes: members, remote:,
          sum: survey.slice(*Look::SUM), counts: survey[:counts], rates:, ready: Segments.not_ready.nil?,
          code: stat.slice(:waiting, :ready, :running), requests: stat[:requests],
          keys: survey[:keys_by_size].map { |row| { **row, key: text(row[:key]) } },
          dead: Look.dead_letters(50).map { |letter| letter.transform_values { |v| v.is_a?(String) ? text(v) : v } },
          gc: { young: gc[:young_count], full: gc[:full_count], young_ms: ms(gc[:young_ns]), full_ms: ms(gc[:full_ns]),
                longest_ms: ms([gc[:pause_young_max_ns], gc[:pause_full_max_ns]].max), live: gc[:live_bytes] },
          memory: State.memory, schedule: schedule
        }
      end

      # Has this program to do with objects of other nodes?
      def self.remote? = Segments.cluster? && !Kumihimo.autoload?(:Remote)

      # Bytes that are in memory.
      def self.memory = File.read("/proc/self/statm").split[1].to_i * 4096

      private

      def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      def ms(ns) = (ns / 1e6).round(2)
      def text(bytes) = bytes.to_s.dup.force_encoding(Encoding::UTF_8).scrub("?")

      # Other nodes, with the microseconds of a call that asks for next to nothing.
      def members
        return [] unless Segments.cluster?
        own, *others = Segments.nodes
        [{ name: own, own: true }, *others.map { |name| { name:, us: round_trip(name) } }]
      end

      # When the nodes collect: what is in force, and what happened last, the newest first.
      def schedule
        seen = GC.stat(:schedule) or return
        events = __gc_schedule_events || []
        kinds = %i[young full].to_h do |kind|
          of = seen[kind]
          [kind, { mode: of[:mode], ms: ms(of[:collection_ns]), since_ms: ms(of[:since_ns]), idle_periods: of[:idle_periods], useful: of[:useful].round(3) }]
        end
        { **seen.slice(:policy, :coordinator, :members, :heap, :largest_heap, :collected, :grown, :ordered, :orders_sent, :idle_periods), **kinds,
          idle_ms: ms(seen[:idle_ns]), timeline:, coordinator: seen[:coordinator] && text(seen[:coordinator]),
          events: events.reverse.map { |ago, what, kind, told, took| { ago_ms: ms(ago), what:, kind:, text: told, ms: ms(took) } } }
      end

      # The last minute in parts of `ms`, the oldest first: how many parts ago, idle time in ms, idle periods, speculative time, time in young
      # collections, in full ones, messages sent, heard. Parts in which nothing happened may be missing.
      def timeline
        width, parts = __gc_schedule_timeline
        return { ms: 250, parts: [] } unless width
        { ms: ms(width), parts: parts.map { |ago, idle, periods, speculative, young, full, *messages| [ago, ms(idle), periods, ms(speculative), ms(young), ms(full), *messages] } }
      end

      # Who holds how many of whose objects.
      def remote = State.remote? ? Remote.survey : nil

      def round_trip(name)
        start = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
        Timeout.timeout(0.5) { Segments[name].size("kumi looks") }
        (Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - start) / 1000
      rescue NotAllowed
        # It has answered that it does not tell.
        (Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - start) / 1000
      rescue Error, Timeout::Error
        nil
      end
    end
    private_constant :State

    # In the text format of Prometheus.
    module Metrics
      def self.text
        survey, stat, gc = Look.survey("", 0), Segments.stat, GC.stat
        out = +""
        gauge = lambda do |name, help, values, type = "gauge"|
          out << "# HELP kumi_#{name} #{help}\n# TYPE kumi_#{name} #{type}\n"
          values.each do |labels, value|
            labels = labels.map { |k, v| "#{k}=\"#{v.to_s.gsub(/[\\"\n]/) { |c| c == "\n" ? "\\n" : "\\#{c}" }}\"" }.join(",")
            out << "kumi_#{name}#{"{#{labels}}" unless labels.empty?} #{value}\n"
          end
        end
        gauge["keys", "Keys under which something stands or waits.", { {} => survey[:keys] }]
        gauge["segments", "Data segments by where they are.",
              { { state: "ready" } => survey[:segments], { state: "later" } => survey[:delayed], { state: "leased" } => survey[:leased] }]
        gauge["waiting", "Requests that wait for a segment, puts that wait for room.",
              { { for: "segment" } => survey[:waiting], { for: "room" } => survey[:waiting_puts] }]
        gauge["events_total", "Segments that entered, were replaced, taken, came back, or ended by their time.",
              survey[:counts].to_h { |what, n| [{ event: what }, n] }, "counter"]
        gauge["code_segments", "Code segments by what they do.", %i[waiting ready running].to_h { |s| [{ state: s }, stat[s]] }]
        gauge["dead_letters", "Dead letters by their key.", Look.dead_letter_keys.to_h { |key, n| [{ key: }, n] }]
        gauge["members", "Nodes of the cluster that are seen.", { {} => Segments.cluster? ? Segments.nodes.size : 0 }]
        gauge["ready", "Whether the node takes part.", { {} => Segments.not_ready ? 0 : 1 }]
        gauge["collections_total", "Garbage collections.", { { kind: "young" } => gc[:young_count], { kind: "full" } => gc[:full_count] }, "counter"]
        gauge["collection_seconds_total", "Time in garbage collections.",
              { { kind: "young" } => gc[:young_ns] / 1e9, { kind: "full" } => gc[:full_ns] / 1e9 }, "counter"]
        if (seen = GC.stat(:schedule))
          gauge["schedule_decisions_total", "What was decided about full collections that were due.",
                { { what: "collect" } => seen[:collected], { what: "grow" } => seen[:grown], { what: "later" } => seen[:put_off] }, "counter"]
          gauge["schedule_orders_total", "Orders to collect, by who gave them, and collections by order.",
                { { what: "sent" } => seen[:orders_sent], { what: "heard" } => seen[:orders_heard], { what: "done" } => seen[:ordered] }, "counter"]
          gauge["idle_seconds_total", "Time in which nothing could run and another node was waited for.", { {} => seen[:idle_ns] / 1e9 }, "counter"]
        end
        if State.remote?
          remote = Remote.__counts
          gauge["exports", "Objects of this node that others hold.", { {} => remote[:exports] }]
          gauge["imports", "Objects of other nodes that this one holds.", { {} => remote[:imports] }]
          gauge["calls", "Calls that are under way, by whose objects are called.", { { of: "others" } => remote[:calls], { of: "this" } => remote[:called] }]
        end
        gauge["live_bytes", "Bytes of live objects.", { {} => gc[:live_bytes] }]
        gauge["resident_bytes", "Bytes in memory.", { {} => State.memory }]
        out
      end
    end
    private_constant :Metrics
  end
end

require "kumihimo/segments/assets"
