# frozen_string_literal: true

module Kumihimo
  # Which request of which user something is done for: W3C Trace Context, as HTTP headers carry it.
  class Trace < Data.define(:traceparent, :tracestate)
    def initialize(traceparent:, tracestate: "")
      [traceparent, tracestate].each { |text| raise TypeError, "a trace is Strings, not #{text.inspect}" unless text.is_a?(String) }
      unless __seg_trace(traceparent, tracestate)
        raise ArgumentError, "no trace context: traceparent #{traceparent.inspect}#{", tracestate #{tracestate.inspect}" unless tracestate.empty?}"
      end
      super(traceparent: -traceparent, tracestate: -tracestate)
    end

    # The whole trace, the span in it, and whether it is recorded.
    def id = traceparent[3, 32]
    def parent = traceparent[36, 16]
    def sampled? = traceparent[53, 2].hex.odd?

    def to_s = traceparent

    # What natives have, or a program gives.
    def self.__of(given)
      case given
      when nil, Trace then given
      when String then new(given)
      when Array then new(*given)
      else raise TypeError, "a trace is a Kumihimo::Trace, a String or nil, not #{given.inspect}"
      end
    end
  end

  module Segments
    class << self
      # The trace on whose behalf this fiber puts: segments that it puts carry it, also to other nodes, and threads and fibers that it
      # starts have it. In the run of a code segment it is that of the first taken input that has one. nil: none.
      def trace = Fiber[:__kumihimo_trace]

      def trace=(trace)
        trace = Trace.__of(trace)
        Calls.__traces if trace
        Fiber[:__kumihimo_trace] = trace
      end

      # The block's puts are on behalf of another.
      def with_trace(trace)
        before = self.trace
        self.trace = trace
        yield
      ensure
        Fiber[:__kumihimo_trace] = before
      end
    end
  end
end
