# frozen_string_literal: true

module Kumihimo
  module Segments
    # Runs of a code segment one after another, or several at a time.
    class Repetition
      # How many runs have ended.
      attr_reader :count

      def initialize(parallel, enough, &make)
        raise ArgumentError, "parallel: is a positive Integer" unless parallel.is_a?(Integer) && parallel.positive?
        @make = make
        @enough = enough
        @lock = Mutex.new
        @live = []
        @over = Thread::Queue.new
        @count = 0
        begin
          parallel.times { start }
        rescue Exception
          stop
          raise
        end
      end

      # No more runs are begun; those that wait for inputs wait no more.
      def stop
        waiting = @lock.synchronize do
          @stopped = true
          @live.dup
        end
        waiting.each(&:cancel)
        @lock.synchronize { @over.close if @live.empty? }
        self
      end

      # Waits until there are no more runs. Raises what ended it.
      def join(timeout: nil)
        if __same(@over.pop(timeout:), nil) && !@over.closed?
          raise TimeoutError, "the repetition has not ended within #{timeout} s"
        end
        raise @error if @error
        self
      end

      def stopped? = !!@stopped

      # Ends the threads of runs whose inputs are elsewhere, which come back there.
      def __kill = @lock.synchronize { @live.dup }.each(&:__kill)

      def __over(segment)
        ended = segment.__how
        enough = asked = nil
        begin
          enough = ended == :done && @enough && @enough.call(segment)
          asked = true
        rescue Exception => error
          @error ||= error
          # What is meant for the thread, ends the thread.
          raise if error.is_a?(SystemExit) || error.is_a?(SignalException)
        ensure
          again = over(segment, ended, segment.__failed? || !asked, enough)
        end
        start if again
      rescue StandardError => e
        # No other one can be made.
        @lock.synchronize do
          @error ||= e
          @stopped = true
          @over.close if @live.empty?
        end
        stop_rest
      end

      private

      # One is over; also where the block has ended its thread. Does another begin?
      def over(segment, ended, failed, enough)
        again = @lock.synchronize do
          @live.delete(segment)
          @count += 1 unless ended == :cancelled
          @error ||= segment.__error if failed
          @stopped = true if enough || failed
          @over.close if @stopped && @live.empty?
          !@stopped
        end
        stop_rest unless again || ended == :cancelled
        again
      end

      def start
        segment = @make.call
        segment.__repeated(self)
        @lock.synchronize do
          return if @stopped
          @live << segment
        end
        segment.start
        # Who has stopped it meanwhile could not cancel this one.
        segment.cancel if @stopped
      rescue StandardError
        @lock.synchronize { @live.delete(segment) }
        raise
      end

      def stop_rest
        @lock.synchronize { @live.dup }.each(&:cancel)
      end
    end
  end
end
