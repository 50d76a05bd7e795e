# frozen_string_literal: true

module Kumihimo
  module Flow
    # Elements of all inputs in the order in which they arrive.
    class Interleave < Together
      def receive(_index, batch, out) = out.concat(batch)
    end

    # Elements with the same index, as Arrays as long as the first input.
    class Zip < Together
      def start
        @queues = Array.new(@inputs.size) { [] }
        @over = Array.new(@inputs.size, false)
      end

      def wants?(index) = @queues[index].empty?
      def complete? = @over[0] && @queues[0].empty?

      def receive(index, batch, out)
        @queues[index].concat(batch)
        advance(out)
      end

      def ended(index, out)
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
