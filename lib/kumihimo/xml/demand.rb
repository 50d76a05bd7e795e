# frozen_string_literal: true

module Kumihimo
  module XML
    # Asks for the next element of a document that an object of the program's feeds: its `readpartial` may wait, and a reader must
    # not. A thread waits for one element and ends, so no more is read than is asked for. It knows this and not the reader, whose
    # finalizer closes this.
    class Demand
      # Rings when the thread has ended: something is there, or is wrong.
      attr_reader :bell

      def initialize(cursor)
        @cursor = cursor
        @closed = false
        @bell = Operators::Bell.new { @thread.nil? }
      end

      # A finalizer runs in any thread, perhaps in one that has the lock: another closes.
      def self.closer(demand) = ->(_id) { Thread.new { demand.close } unless demand.over? }

      # Begins to wait, unless it does already. Raises what the last wait has failed with.
      def make
        failure = @bell.synchronize do
          return if @thread || @closed
          start unless @failure
          @failure.tap { @failure = nil }
        end
        # The thread knows none of the reader's `catch`es.
        throw(failure.tag, failure.value) if UncaughtThrowError === failure
        raise failure if failure
      end

      def over? = @thread.nil?

      # When this returns, `ensure` blocks of the object have run.
      def close
        thread = @bell.synchronize do
          @closed = true
          @failure = nil
          @thread
        end
        return if thread.nil? || thread.equal?(Thread.current)
        thread.kill
        thread.join
        @thread = nil
      end

      private

      # Under the bell's lock, which the thread takes to say that it has ended.
      def start
        @thread = Thread.new do
          failure = Flow::Error.new("the thread that waited for a document was killed")
          __xcursor_peek(@cursor)
          failure = nil
        rescue Exception => error # whatever it is, it is the reader's to know
          failure = error
        ensure
          @bell.synchronize do
            @failure = failure unless @closed
            @thread = nil
            @bell.ring
          end
        end
        @thread.report_on_exception = false
      end
    end
  end
end
