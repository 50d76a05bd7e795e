# frozen_string_literal: true

module Kumihimo
  module Operators
    # The base of operators over several inputs. A subclass says what a batch of an input makes; who reads what when is the
    # business of Turns. Each reading works on a copy. Results are appended to `out`.
    class Together
      include Flow

      def initialize(*inputs)
        @__inputs = inputs.map { |input| Flow.from(input) }
      end

      # A reading begins.
      def start; end

      # A reading is over, however it ended.
      def stop; end

      # A batch of input number `index` has come.
      def __receive(index, batch, out); end

      # Input number `index` has ended.
      def __ended(index, out); end

      # Whether a batch of that input is any use now.
      def __wants?(_index) = true

      # True when nothing that may still come can make a result: the inputs are closed.
      def __complete? = false

      # After all inputs have ended: about `max` of what is left; true when there is more.
      def __drain(_out, _max) = false

      def each(&block)
        return to_enum(:each) unless block
        turns = Turns.new(__reading, @__inputs)
        begin
          while (out = turns.take)
            if out.empty?
              Flow.wait(turns.waiting) if turns.dry?
            else
              out.each(&block)
            end
          end
        ensure
          turns.close
        end
        self
      end

      def flow_reader = TurnsReader.new(Turns.new(__reading, @__inputs))
      def inspect = "#<#{self.class} of #{@__inputs.map(&:inspect).join(", ")}>"

      # The copy that one reading works on.
      def __reading
        run = dup
        run.__start
        run
      end

      # As `start` and `stop`, which programs may have in subclasses of Flow::Join.
      def __start = start
      def __stop = stop
    end

    # One reading of an operator over several inputs. Inputs take FIFO turns; one that has nothing is passed over, and only
    # when none has anything is there a wait. A turn is a batch, sized to last `TURN` by the time that the last one took, from
    # one element on: the first results come early, and a fast input changes over seldom. When all but one have ended, the
    # turns are its own: there is no task and no table but what the operator still needs.
    class Turns
      # Seconds. The paper gives 10 ms to fast inputs and 5 ms to slow ones; processors are faster now, and nothing is lost here
      # by shorter turns.
      TURN = 0.001
      # Elements.
      LARGEST = 1024

      Input = Struct.new(:index, :reader, :batch)

      def initialize(run, inputs)
        @run = run
        @open = []
        inputs.each_with_index { |input, index| @open << Input.new(index, input.flow_reader, 1) }
        @dry = false
        @drained = false
        @ended = @beside = 0 # of these inputs, and of those read beside the whole of it
      ensure
        # An input cannot be read, and nobody else knows of the reading.
        close unless @ended
      end

      # Results of one turn, which may be none; nil at the end.
      def take
        if @failure
          failure, @failure = @failure, nil
          close
          raise failure
        end
        return nil if @drained
        @dry = false
        out = []
        begin
          if @run.__complete?
            shut
            @drained = true
            return nil
          elsif @open.empty?
            return out if @run.__drain(out, PIECE)
            close
          else
            turn(out)
          end
        rescue Exception => error # what was made before it comes first
          @failure = error
        end
        out.empty? && @drained && !@failure ? nil : out
      end

      # No wanted input had anything.
      def dry? = @dry

      # The readers to wait for.
      def waiting = @open.filter_map { |input| input.reader if @run.__wants?(input.index) }

      def others_ended(count)
        @beside = count
        tell_ended
      end

      def close
        @drained = true
        shut
      end

      private

      def tell_ended
        @open.each { |input| input.reader.others_ended(@ended + @beside) if Flow::Reader === input.reader }
      end

      def turn(out)
        @open.size.times do
          input = @open.shift
          @open << input
          next unless @run.__wants?(input.index)
          began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          batch = input.reader.take_batch(input.batch)
          if batch.nil?
            @open.pop
            input.reader.close
            @ended += 1
            tell_ended
            return @run.__ended(input.index, out)
          elsif !batch.empty?
            @run.__receive(input.index, batch, out)
            return resize(input, batch.size, Process.clock_gettime(Process::CLOCK_MONOTONIC) - began)
          end
        end
        @dry = true
      end

      def resize(input, size, time)
        if time > 2 * TURN
          input.batch = (size * TURN / time).to_i.clamp(1, LARGEST)
        elsif size == input.batch && time < TURN / 2
          input.batch *= 2 if input.batch < LARGEST
        end
      end

      def shut
        open, @open = @open, []
        run, @run = @run, Together.new
        run.__stop
      ensure
        open.each { |input| input.reader.close }
      end
    end

    # A reading of an operator over several inputs, as the input of another.
    class TurnsReader
      include Flow::Reader

      def initialize(turns)
        @turns = turns
        @ready = []
      end

      def take_batch(max)
        rounds = 0
        while @ready.empty?
          return [] if (rounds += 1) > OperatorReader::PATIENCE
          out = @turns.take
          return nil if out.nil?
          return [] if out.empty? && @turns.dry?
          @ready = out
        end
        return @ready.shift(max) if @ready.size > max
        batch = @ready
        @ready = []
        batch
      end

      def wait_handle = @turns.dry? ? @turns.waiting.map(&:wait_handle) : nil
      def others_ended(count) = @turns.others_ended(count)

      def close
        @ready = []
        @turns.close
      end
    end
  end
end
