# frozen_string_literal: true

module Kumihimo
  module Operators
    # What operators have in common that hold elements and may be given a bound. With one (`@options`) each reading has a Budget,
    # and a Spill for what is more, which is closed however the reading ends. Without one it has neither.
    module Bounded
      def start
        return unless @options
        @budget = Budget.new(@options)
        @spill = Spill.new(@options.codec)
      end

      def stop = @spill&.close

      private

      # Whether so many elements, which lie on disk, are to be cut before they are held. After many cuts they are of one key,
      # or nearly so.
      def cut?(count, depth) = count > @budget.limit && depth <= Partition::DEEPEST

      # A shelf cut by the keys that the block gives: pieces that are not empty, each with its depth.
      def cut(shelf, depth)
        pieces = Array.new(Partition::COUNT) { Shelf.new(@spill) }
        shelf.each { |number, element| pieces[Partition.of(yield(element), depth)].add(number, element) }
        pieces.reject(&:empty?).map { |piece| [piece, depth + 1] }
      end
    end

    # An operator over one input that goes by a key.
    class KeyedOperator < Flow::Operator
      include Bounded

      def initialize(input, key, options = nil)
        super(input)
        @key = key
        @options = options
      end
    end
  end
end
