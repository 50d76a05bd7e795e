# frozen_string_literal: true

module Kumihimo
  module Operators
    # The base of operators over inputs that come in the order of their keys. Of each input one batch is held, and the next is
    # read only when that is used up. A subclass makes the `@sides` and says in `advance` what can be made of what has come.
    class SortedInputs < Together
      # What has come of an input, and how far it is used.
      class Side
        # The elements and their keys, the place of the next, whether no more will come.
        attr_reader :elements, :keys
        attr_accessor :at, :over

        def initialize(by)
          @by = by
          @elements = @keys = []
          @at = 0
          @over = false
          @last = nil # the last key that is not nil
        end

        def empty? = @at >= @keys.size
        def key = @keys[@at]
        def element = @elements[@at]

        # The next batch of input number `index`, up to what is wrong with it, which is returned.
        def fill(batch, index)
          @keys, error, @last = Order.keys(batch, @by, @last, index)
          @elements = batch
          @at = 0
          error
        end
      end

      def __wants?(index) = @sides[index].empty?

      def __receive(index, batch, out)
        error = @sides[index].fill(batch, index)
        advance(out)
        raise error if error
      end

      def __ended(index, out)
        @sides[index].over = true
        advance(out)
      end
    end

    # One sequence in order, of inputs that are in order. Of equal elements those of an earlier input come first.
    class SortedMerge < SortedInputs
      def initialize(*inputs, by: nil)
        super(*inputs)
        @key = Key.of(by)
      end

      def start = @sides = Array.new(@__inputs.size) { Side.new(@key) }

      private

      def advance(out)
        until @sides.any? { |side| side.empty? && !side.over }
          least = nil
          @sides.each { |side| least = side if !side.empty? && (least.nil? || Order.compare(side.key, least.key).negative?) }
          return unless least
          out << least.element
          least.at += 1
        end
      end
    end

    # Comparing keys of sorted inputs.
    module Order
      def self.compare(one, other)
        (one <=> other) || raise(ArgumentError, "comparison of #{one.class} with #{other.inspect} failed")
      end

      # The keys of a batch up to the first that is before the one before it, or cannot be had; the error, if any; and the last key
      # there was, which was `last` before. What comes before an error is joined before it is raised. nil keys are passed over.
      def self.keys(batch, key, last, index)
        keys = []
        batch.each do |element|
          value = key.call(element)
          unless value.nil?
            if !last.nil? && compare(value, last).negative?
              raise Flow::UnsortedError, "input #{index + 1} is not sorted: #{value.inspect} comes after #{last.inspect}"
            end
            last = value
          end
          keys << value
        end
        [keys, nil, last]
      rescue StandardError => error
        [keys, error, last]
      end
    end
  end
end
