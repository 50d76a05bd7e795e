# frozen_string_literal: true

require_relative "join/tables"
require_relative "join/inner"
require_relative "join/general"
require_relative "join/remains"

module Kumihimo
  module Flow
    # Elements of two inputs that belong together: a symmetric join. Each element is held against the table of the other input
    # and put into its own, so that every pair is found when its later half comes. To make your own, say what belongs together
    # and what comes of it (the paper's `condition` and `constElem`):
    #
    #   class Near < Kumihimo::Flow::Join
    #     def condition(house, shop) = house.addr.start_with?(shop.addr)
    #     def construct(house, shop) = [house.price, shop.name]
    #   end
    #   Near.new(houses, shops).first(3)
    #
    # A subclass with `key_left` and `key_right` is joined by equal keys, and by `condition` if it has that too.
    class Join < Operators::Together
      def initialize(left, right, on: nil, range: nil, band: nil, where: nil, kind: :inner, unique: nil, nils: false,
                     memory: nil, rows: nil, codec: Marshal, &construct)
        super(left, right)
        raise ArgumentError, "kind: is one of #{Operators::KINDS.map(&:inspect).join(", ")}, not #{kind.inspect}" unless Operators::KINDS.include?(kind)
        raise ArgumentError, "unique: is :left, :right or :both, not #{unique.inspect}" unless Operators::UNIQUE.include?(unique)
        unless where.nil? || where.respond_to?(:call)
          raise ArgumentError, "where: takes a proc (or what has call) of the left and the right element, not #{where.inspect}"
        end
        @__kind = kind
        @__unique = unique
        @__where = where
        @__construct = construct
        @__nils = nils
        @__options = Operators::Budget.options(memory, rows, codec)
        __choose_keys(on, range, band)
        return if @__left_key || __own?(:key_left) || __own?(:condition) || where
        raise ArgumentError, "a join needs on:, range: or where:"
      end

      # Whether two elements with equal keys belong together.
      def condition(left, right) = @__where ? @__where.call(left, right) : true

      # The result for two elements; nil stands for the one that an outer join doesn't have. Semi and anti joins don't ask.
      def construct(left, right) = @__construct ? @__construct.call(left, right) : [left, right]

      # The keys, when they are not given by `on:`.
      def key_left(left) = @__left_key ? @__left_key.call(left) : true
      def key_right(right) = @__right_key ? @__right_key.call(right) : true

      attr_reader :__kind, :__unique

      def __nils? = @__nils

      # An inner join by equal keys begins in memory, if it is bounded too.
      def __start
        @__budget = @__options && Operators::Budget.new(@__options)
        @__kernel = __simple? ? Operators::InnerJoin.new(self, __lambdas, __names, __maker, @__budget) : __general
        start
      end

      def __stop
        @__kernel&.stop
        @__kernel = nil
      ensure
        stop
      end

      def __receive(index, batch, out)
        index.zero? ? @__kernel.left(batch, out) : @__kernel.right(batch, out)
        return unless @__budget && @__kernel.is_a?(Operators::InnerJoin) && @__kernel.too_large?
        small = @__kernel
        @__kernel = __general
        small.each_held { |side, key, element| @__kernel.adopt(side, key, element) }
        @__kernel.spill
      end

      def __ended(index, out) = @__kernel.ended(index, out)
      def __complete? = @__kernel.complete?
      def __drain(out, max) = @__kernel.drain(out, max)

      private

      def __own?(name) = method(name).owner != Join
      def __conditional? = !@__where.nil? || __own?(:condition)
      def __simple? = @__kind == :inner && !__conditional? && !@__ranged
      def __general = Operators::GeneralJoin.new(self, __lambdas, __maker, __conditional?, @__ranged, @__budget)

      # What makes a pair, or nil for an Array of the two.
      def __maker
        return ->(left, right) { construct(left, right) } if __own?(:construct)
        @__construct
      end

      def __lambdas
        [__own?(:key_left) || !@__left_key ? ->(left) { key_left(left) } : @__left_key,
         __own?(:key_right) || !@__right_key ? ->(right) { key_right(right) } : @__right_key]
      end

      # The readers that keys were given as.
      def __names
        [__own?(:key_left) ? nil : @__left_name, __own?(:key_right) ? nil : @__right_name]
      end

      def __choose_keys(on, range, band)
        if range
          raise ArgumentError, "range: takes no on: or band: beside it" if on || band
          raise ArgumentError, "range: takes [left, right]" unless range.is_a?(Array) && range.size == 2
          @__left_key, @__right_key = range.map { |side| Operators::Interval.of(Operators::Key.of(side)) }
        elsif band
          raise ArgumentError, "band: takes a Range, beside on:" unless on && band.is_a?(Range)
          left, right = Operators::Key.pair(on)
          @__left_key = Operators::Interval.band(left, band)
          @__right_key = Operators::Interval.of(right)
        elsif on
          @__left_key, @__right_key = Operators::Key.pair(on, nils: @__nils)
          @__left_name, @__right_name = (on.is_a?(Array) ? on : [on, on]).map { |spec| spec if spec.is_a?(Symbol) }
        end
        @__ranged = !!(range || band)
      end
    end
  end
end
