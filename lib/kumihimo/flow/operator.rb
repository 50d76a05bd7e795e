# frozen_string_literal: true

module Kumihimo
  module Flow
    # A number of elements that an operator is given.
    def self.size(count, verb)
      number = Integer.try_convert(count)
      raise TypeError, "no implicit conversion of #{count.nil? ? "nil" : count.class} into Integer" unless number
      raise ArgumentError, "attempt to #{verb} negative size" if number.negative?
      number
    end

    # An operator over one input; the base of your own:
    #
    #   class Rises < Kumihimo::Flow::Operator
    #     def start = @last = nil
    #     def process(price)
    #       yield price if @last && price > @last
    #       @last = price
    #     end
    #   end
    #   Rises.new(prices).first(3)
    #
    # Each reading works on a copy of the operator, so instance variables set in `start` and `process` are the reading's own.
    class Operator
      include Flow

      def initialize(input)
        @__input = Flow.from(input)
      end

      # A reading begins.
      def start; end

      # Yields what an element of the input makes.
      def process(element) = yield(element)

      # Yields what is left when the input has ended.
      def finish; end

      # True when no more of the input is wanted. Asked after each element.
      def full? = false

      # A reading is over, however it ended.
      def stop; end

      def each(&block)
        return to_enum(:each) unless block
        run = __reading
        begin
          run.__feed(&block)
          more = true
          while more
            out = []
            begin
              more = run.__drain(out, Operators::PIECE)
            rescue StandardError
              # An error comes after what was made before it.
              out.each(&block)
              raise
            end
            out.each(&block)
          end
        ensure
          run.stop
        end
        self
      end

      def flow_reader
        run = __reading
        reader = Operators::OperatorReader.new(run, @__input.flow_reader)
      ensure
        # The input cannot be read, and nobody else knows of the reading.
        run.stop if run && !reader
      end

      def inspect = "#<#{self.class} of #{@__input.inspect}>"

      # The copy that one reading works on.
      def __reading
        run = dup
        run.start
        run
      end

      # Puts about `max` of what is left into `out`, which may be all; true when there is more. By default what `finish` yields.
      def __drain(out, max)
        finish { |result| out << result }
        false
      end

      protected

      # Reads the whole input.
      def __feed(&block)
        return if full?
        @__input.each do |element|
          process(element, &block)
          break if full?
        end
      end
    end
  end

  module Operators
    # How many results of an input's end are made at a time.
    PIECE = 256

    # Of operators whose results all come at the end: elements need no block.
    module AtEnd
      protected

      def __feed
        @__input.each { |element| process(element) }
      end
    end

    # An operator read without waiting. Results that come before an error are delivered before it.
    class OperatorReader
      include Flow::Reader

      # How many batches that make nothing are read at one demand: others want their turn.
      PATIENCE = 16

      def initialize(run, input)
        @run = run
        @input = input
        @ready = []       # results not yet taken
        @state = :reading # then :draining, then :ended
        @dry = false      # the input had nothing when it was last asked
      end

      def take_batch(max)
        @dry = false
        rounds = 0
        while @ready.empty?
          break if @state == :ended
          return [] if (rounds += 1) > PATIENCE
          return [] unless guarded { @state == :reading ? read(max) : drain(max) }
        end
        return @ready.shift(max) unless @ready.size <= max
        return fail_or_end if @ready.empty?
        batch = @ready
        @ready = []
        batch
      end

      def wait_handle = @dry ? @input.wait_handle : nil
      def others_ended(count) = Flow::Reader === @input ? @input.others_ended(count) : nil

      def close
        @state = :ended
        @ready = []
        @failure = nil
        shut
      end

      private

      # False when the input has nothing now.
      def read(max)
        return @state = :draining if @run.full?
        batch = @input.take_batch(max)
        return @state = :draining if batch.nil?
        return !(@dry = true) if batch.empty?
        batch.each do |element|
          @run.process(element) { |result| @ready << result }
          break if @run.full?
        end
        true
      end

      def drain(max)
        return true if @run.__drain(@ready, max)
        @state = :ended
        shut
        true
      end

      def guarded
        yield
      rescue Exception => error # it is raised when its turn has come
        @failure = error
        @state = :ended
        shut
        true
      end

      def fail_or_end
        failure, @failure = @failure, nil
        raise failure if failure
      end

      def shut
        run, @run = @run, nil
        run&.stop
        @input.close
      end
    end
  end
end
