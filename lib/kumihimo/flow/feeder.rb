# frozen_string_literal: true

module Kumihimo
  module Operators
    # Reads what can only be read by `each`, which may wait: a thread does, at most `BOUND` elements ahead. It begins with the
    # first demand and ends with the input, with `close`, or when nobody has the reader any more: the thread knows the box
    # between them and not the reader, whose finalizer closes the box.
    class Feeder
      include Flow::Reader

      # Enough that two threads which take turns on one core change over seldom.
      BOUND = 256

      def initialize(input)
        @box = Box.new(input)
        ObjectSpace.define_finalizer(self, Feeder.closer(@box))
      end

      # Made where `self` is not the reader. A finalizer runs in any thread, perhaps in one that has the lock: another closes.
      def self.closer(box) = ->(_id) { Thread.new { box.close } unless box.over? }

      def take_batch(max) = @box.take(max)
      def wait_handle = @box.bell

      # When this returns, `ensure` blocks of the input have run.
      def close = @box.close&.join

      # The elements between the thread and the reader. All is under the bell's lock.
      class Box
        attr_reader :bell

        def initialize(input)
          @input = input
          @elements = []
          @room = ConditionVariable.new
          @ended = false
          @bell = Bell.new { @ended || !@elements.empty? }
        end

        def take(max)
          start unless @thread || @ended
          failure = nil
          batch = @bell.synchronize do
            if !@elements.empty?
              taken = @elements.shift(max)
              @room.signal
              taken
            elsif @ended
              failure, @failure = @failure, nil
              nil
            else
              []
            end
          end
          # The input's thread knows none of the reader's `catch`es.
          throw(failure.tag, failure.value) if UncaughtThrowError === failure
          raise failure if failure
          batch
        end

        # Whether the thread has nothing more to do.
        def over? = @ended

        # The thread that has been told to end, if there was one.
        def close
          thread = @bell.synchronize do
            @ended = true
            @elements.clear
            @failure = @input = nil
            @thread
          end
          thread&.kill unless thread.equal?(Thread.current)
          thread
        end

        private

        def start
          @thread = Thread.new(@input) do |input|
            failure = Flow::Error.new("the thread that read #{input.inspect} was killed")
            input.each { |element| put(element) }
            failure = nil
          rescue Exception => error # whatever ends the input is the reader's to know
            failure = error
          ensure
            finish(failure)
          end
          @thread.report_on_exception = false
        end

        def put(element)
          @bell.synchronize do
            @room.wait(@bell.lock) while @elements.size >= BOUND && !@ended
            @elements << element unless @ended
            @bell.ring
          end
        end

        def finish(failure)
          @bell.synchronize do
            @failure = failure unless @ended
            @ended = true
            @bell.ring
          end
        end
      end
      private_constant :Box
    end
  end
end
