# frozen_string_literal: true

module Kumihimo
  module Segments
    # What happens to a node, a line each on standard error: text, or JSON. Silent until `set`.
    #
    # A line of JSON has time, level, event and node, then what the event is about. Where there is a W3C trace context
    # (`Kumihimo::Segments.trace`, else `Thread.current[:traceparent]`), trace_id and span_id are added, as OpenTelemetry has them.
    module Log
      LEVELS = %w[info warn error off].freeze
      TRACE = /\A\h\h-(\h{32})-(\h{16})-\h\h\z/
      private_constant :LEVELS, :TRACE

      @level = nil

      class << self
        # format: "text", "json" or "auto", which is text on a terminal.
        def set(level, format)
          @level = LEVELS.index(level) || raise(ArgumentError, "a level is one of #{LEVELS.join(", ")}, not #{level.inspect}")
          raise ArgumentError, "a format is one of auto, text and json, not #{format.inspect}" unless %w[auto text json].include?(format)
          @json = format == "json" || (format == "auto" && !$stderr.tty?)
        end

        def set? = !@level.nil?

        def info(event, **about) = line(0, event, about)
        def warn(event, **about) = line(1, event, about)
        def error(event, **about) = line(2, event, about)

        # Told at every level but off, as information: what nobody could do without.
        def always(event, **about) = line(0, event, about, least: LEVELS.index("error"))

        private

        # It is told where the level is `least` or less.
        def line(level, event, about, least: level)
          return if @level.nil? || least < @level
          time = Time.now.utc.strftime("%Y-%m-%dT%H:%M:%S.%LZ")
          all = { time:, level: LEVELS[level], event: event, node: Segments.node, **about, **trace }.compact
          $stderr.write(@json ? "{#{all.map { |name, value| "#{quoted(name)}:#{json(value)}" }.join(",")}}\n" : text(all))
        rescue IOError, SystemCallError
          # Nobody reads it.
        end

        def text(all)
          time, level, event, *rest = all.values_at(:time, :level, :event)
          rest = all.except(:time, :level, :event, :node).map { |name, value| " #{name}=#{plain(value)}" }
          "#{time} #{level.ljust(5)} #{event}#{rest.join}\n"
        end

        def plain(value)
          value = value.to_s.scrub
          value.match?(/\A[[:graph:]&&[^"=]]+\z/) ? value : quoted(value)
        end

        def json(value)
          case value
          when Integer, true, false then value.to_s
          when Float then value.finite? ? value.to_s : quoted(value)
          when Array then "[#{value.map { |each| json(each) }.join(",")}]"
          else quoted(value)
          end
        end

        def quoted(value)
          text = value.to_s.dup.force_encoding(Encoding::UTF_8).scrub
          "\"#{text.gsub(/["\\\u0000-\u001f\u007f]/) { |c| c == '"' || c == "\\" ? "\\#{c}" : format("\\u%04x", c.ord) }}\""
        end

        def trace
          found = TRACE.match((Segments.trace || Thread.current[:traceparent]).to_s) or return {}
          { trace_id: found[1].downcase, span_id: found[2].downcase }
        end
      end
    end
    private_constant :Log
  end
end
