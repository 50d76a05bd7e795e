# frozen_string_literal: true

module Kumihimo
  module Operators
    # The n elements with the largest (or least) keys. Keeps them in a buffer that is sorted and cut when it is twice full; an
    # element that cannot be among them is not kept.
    class Top < Flow::Operator
      def initialize(input, count, key, least)
        super(input)
        @count = Flow.size(count, "take")
        @key = key
        @least = least
      end

      def start
        @best = [] # [key, order of arrival, element]
        @arrived = 0
        @bound = nil # the key of the last that is surely among them
      end

      def full? = @count.zero?

      def process(element)
        key = @key.call(element)
        return if @bound && !better?(key, @bound)
        @best << [key, @arrived += 1, element]
        cut if @best.size >= 2 * @count + 64
      end

      def finish
        cut
        @best.each { |_, _, element| yield element }
      end

      private

      def better?(key, bound)
        order = key <=> bound
        raise ArgumentError, "comparison of #{key.class} with #{bound.inspect} failed" unless order
        @least ? order.negative? : order.positive?
      end

      def cut
        @best.sort! do |one, other|
          order = @least ? one[0] <=> other[0] : other[0] <=> one[0]
          raise ArgumentError, "comparison of #{one[0].class} with #{other[0].inspect} failed" unless order
          order.zero? ? one[1] <=> other[1] : order
        end
        @best = @best.first(@count) if @best.size > @count
        @bound = @best.last[0] if @best.size == @count && !@count.zero?
      end
    end
  end
end
