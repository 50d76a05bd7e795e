# frozen_string_literal: true

module Kumihimo
  module Operators
    # Elements of all inputs in the order in which they arrive.
    class Interleave < Together
      def __receive(_index, batch, out) = out.concat(batch)
    end

    # Elements with the same index, as Arrays as long as the first input.
    class Zip < Together
      def start
        @queues = Array.new(@__inputs.size) { [] }
        @over = Array.new(@__inputs.size, false)
      end

      def __wants?(index) = @queues[index].empty?
      def __complete? = @over[0] && @queues[0].empty?

      def __receive(index, batch, out)
        @queues[index].concat(batch)
        advance(out)
      end

      def __ended(index, out)
        @over[index] = true
        advance(out)
      end

      private

      def advance(out)
        until @queues[0].empty? || @queues.each_index.any? { |index| @queues[index].empty? && !@over[index] }
          out << @queues.map(&:shift)
        end
      end
    end
  end
end
