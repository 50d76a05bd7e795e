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
    class Join < Together
      KINDS = %i[inner left right full semi anti].freeze
      UNIQUE = [nil, :left, :right, :both].freeze

      attr_reader :kind, :unique

      def initialize(left, right, on: nil, range: nil, band: nil, where: nil, kind: :inner, unique: nil, nils: false,
                     memory: nil, rows: nil, codec: Marshal, &construct)
        super(left, right)
        raise ArgumentError, "kind: is one of #{KINDS.map(&:inspect).join(", ")}, not #{kind.inspect}" unless KINDS.include?(kind)
        raise ArgumentError, "unique: is :left, :right or :both, not #{unique.inspect}" unless UNIQUE.include?(unique)
        unless where.nil? || where.respond_to?(:call)
          raise ArgumentError, "where: takes a proc (or what has call) of the left and the right element, not #{where.inspect}"
        end
        @kind = kind
        @unique = unique
        @where = where
        @construct = construct
        @nils = nils
        @options = Budget.options(memory, rows, codec)
        choose_keys(on, range, band)
        return if @left_key || own?(:key_left) || own?(:condition) || where
        raise ArgumentError, "a join needs on:, range: or where:"
      end

      # Whether two elements with equal keys belong together.
      def condition(left, right) = @where ? @where.call(left, right) : true

      # The result for two elements; nil stands for the one that an outer join doesn't have. Semi and anti joins don't ask.
      def construct(left, right) = @construct ? @construct.call(left, right) : [left, right]

      # The keys, when they are not given by `on:`.
      def key_left(left) = @left_key ? @left_key.call(left) : true
      def key_right(right) = @right_key ? @right_key.call(right) : true

      # An inner join by equal keys begins in memory, if it is bounded too.
      def start
        @budget = @options && Budget.new(@options)
        @kernel = simple? ? InnerJoin.new(self, lambdas, names, maker, @budget) : general
      end

      def stop
        @kernel&.stop
        @kernel = nil
      end

      def receive(index, batch, out)
        index.zero? ? @kernel.left(batch, out) : @kernel.right(batch, out)
        return unless @budget && @kernel.is_a?(InnerJoin) && @kernel.too_large?
        small = @kernel
        @kernel = general
        small.each_held { |side, key, element| @kernel.adopt(side, key, element) }
        @kernel.spill
      end

      def ended(index, out) = @kernel.ended(index, out)
      def complete? = @kernel.complete?
      def drain(out, max) = @kernel.drain(out, max)
      def nils? = @nils

      private

      def own?(name) = method(name).owner != Join
      def conditional? = !@where.nil? || own?(:condition)
      def simple? = @kind == :inner && !conditional? && !@ranged
      def general = GeneralJoin.new(self, lambdas, maker, conditional?, @ranged, @budget)

      # What makes a pair, or nil for an Array of the two.
      def maker
        return ->(left, right) { construct(left, right) } if own?(:construct)
        @construct
      end

      def lambdas
        [own?(:key_left) || !@left_key ? ->(left) { key_left(left) } : @left_key,
         own?(:key_right) || !@right_key ? ->(right) { key_right(right) } : @right_key]
      end

      # The readers that keys were given as.
      def names
        [own?(:key_left) ? nil : @left_name, own?(:key_right) ? nil : @right_name]
      end

      def choose_keys(on, range, band)
        if range
          raise ArgumentError, "range: takes no on: or band: beside it" if on || band
          raise ArgumentError, "range: takes [left, right]" unless range.is_a?(Array) && range.size == 2
          @left_key, @right_key = range.map { |side| Interval.of(Key.of(side)) }
        elsif band
          raise ArgumentError, "band: takes a Range, beside on:" unless on && band.is_a?(Range)
          left, right = Key.pair(on)
          @left_key = Interval.band(left, band)
          @right_key = Interval.of(right)
        elsif on
          @left_key, @right_key = Key.pair(on, nils: @nils)
          @left_name, @right_name = (on.is_a?(Array) ? on : [on, on]).map { |spec| spec if spec.is_a?(Symbol) }
        end
        @ranged = !!(range || band)
      end
    end
  end
end
