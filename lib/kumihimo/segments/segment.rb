# frozen_string_literal: true

module Kumihimo
  module Segments
    # A segment as it was read: its value, its index under its key, whether its taker may change it (`owned?`), whether it came
    # back from a run that may have changed it (`changed?`), and how often it was taken.
    class Segment
      attr_reader :key, :index, :value, :deliveries

      def initialize(key, index, value, owned, changed, deliveries, trace = nil)
        @key = key
        @index = index
        @value = value
        @owned = owned
        @changed = changed
        @deliveries = deliveries
        @trace = trace
      end

      # The trace on whose behalf it was put; nil: there was none. See Segments.trace.
      def trace = Trace.__of(@trace)

      def owned? = @owned
      def shared? = !@owned
      def changed? = @changed

      def inspect = "#<#{self.class} #{@key}[#{@index}]#{" owned" if @owned} #{@value.inspect}>"
    end
  end
end
