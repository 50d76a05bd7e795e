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

    # One sequence in order, of inputs that are in order. Of equal elements those of an earlier input come first.
    class SortedMerge < Together
      # What has come of an input and its keys; the last key that has.
      Side = Struct.new(:elements, :keys, :at, :over, :last) do
        def empty? = at >= keys.size
        def key = keys[at]
      end

      def initialize(*inputs, by: nil)
        super(*inputs)
        @key = Key.of(by)
      end

      def start = @sides = Array.new(@inputs.size) { Side.new([], [], 0, false, nil) }
      def wants?(index) = @sides[index].empty?

      def receive(index, batch, out)
        side = @sides[index]
        side.keys, error = Order.keys(batch, @key, side.last, index)
        side.elements = batch
        side.at = 0
        side.last = side.keys.last || side.last
        advance(out)
        raise error if error
      end

      def ended(index, out)
        @sides[index].over = true
        advance(out)
      end

      private

      def advance(out)
        until @sides.any? { |side| side.empty? && !side.over }
          least = nil
          @sides.each { |side| least = side if !side.empty? && (least.nil? || Order.compare(side.key, least.key).negative?) }
          return unless least
          out << least.elements[least.at]
          least.at += 1
        end
      end
    end

    # Comparing keys of sorted inputs.
    module Order
      def self.compare(one, other)
        (one <=> other) || raise(ArgumentError, "comparison of #{one.class} with #{other.inspect} failed")
      end

      # The keys of a batch up to the first that is before the one before it, or cannot be had; and the error, if any. What
      # comes before an error is joined before it is raised. nil keys are passed over.
      def self.keys(batch, key, last, index)
        keys = []
        batch.each do |element|
          value = key.call(element)
          unless value.nil?
            if !last.nil? && compare(value, last).negative?
              raise UnsortedError, "input #{index + 1} is not sorted: #{value.inspect} comes after #{last.inspect}"
            end
            last = value
          end
          keys << value
        end
        [keys, nil]
      rescue StandardError => error
        [keys, error]
      end
    end
  end
end
