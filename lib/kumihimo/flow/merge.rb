# frozen_string_literal: true

module Kumihimo
  module Flow
    # The join of two sorted inputs. Both sides keep the elements of the key that is now being joined; a smaller key cannot come
    # any more. An input is read only when its next key is not known.
    class MergeJoin < Together
      # Elements that have come and are not yet joined, and those of the current key.
      Side = Struct.new(:key, :outer, :elements, :keys, :at, :over, :last, :group, :met) do
        def empty? = at >= keys.size
      end

      def initialize(left, right, on:, kind: :inner, &construct)
        super(left, right)
        raise ArgumentError, "kind: is one of #{Join::KINDS.map(&:inspect).join(", ")}, not #{kind.inspect}" unless Join::KINDS.include?(kind)
        @kind = kind
        @construct = construct
        @keys = Key.pair(on)
      end

      def construct(left, right) = @construct ? @construct.call(left, right) : [left, right]

      def start
        outer = [@kind == :left || @kind == :full || @kind == :anti, @kind == :right || @kind == :full]
        @sides = Array.new(2) { |index| Side.new(@keys[index], outer[index], [], [], 0, false, nil, [], false) }
        @halves = @kind == :semi || @kind == :anti
        @some = false # whether there is a current key
      end

      def wants?(index) = @sides[index].empty?

      # One side has ended, has nothing of the current key, and the other's elements are not given without it.
      def complete?
        @sides.each_with_index.any? do |side, index|
          side.over && side.empty? && side.group.empty? && !@sides[1 - index].outer && @sides[1 - index].group.empty?
        end
      end

      def receive(index, batch, out)
        side = @sides[index]
        side.keys, error = Order.keys(batch, side.key, side.last, index)
        side.elements = batch
        side.at = 0
        side.last = side.keys.reverse_each.find { |key| !key.nil? } || side.last
        advance(out)
        raise error if error
      end

      def ended(index, out)
        @sides[index].over = true
        advance(out)
      end

      # The last key's elements.
      def drain(out, _max)
        close(out)
        false
      end

      private

      def advance(out)
        loop do
          orders = [order(0, out), order(1, out)]
          if orders[0] == :same then add(0, out)
          elsif orders[1] == :same then add(1, out)
          elsif orders.include?(:unknown) || orders == %i[over over] then return
          else
            close(out)
            left, right = @sides
            @current =
              if orders[0] == :over then right.keys[right.at]
              elsif orders[1] == :over then left.keys[left.at]
              else [left.keys[left.at], right.keys[right.at]].then { |one, other| Order.compare(one, other).positive? ? other : one }
              end
            @some = true
          end
        end
      end

      # What the next key of a side is: :same as the current one, :later, :unknown until more comes, or :over.
      def order(index, out)
        side = @sides[index]
        while !side.empty? && side.keys[side.at].nil? # equal to nothing
          give_alone(index, side.elements[side.at], out) if side.outer
          side.at += 1
        end
        return side.over ? :over : :unknown if side.empty?
        @some && Order.compare(side.keys[side.at], @current).zero? ? :same : :later
      end

      def add(index, out)
        side = @sides[index]
        other = @sides[1 - index]
        element = side.elements[side.at]
        side.at += 1
        side.met ||= !other.group.empty?
        other.met = true
        if @halves
          if index.zero?
            return out << element if side.met && @kind == :semi
            side.group << element unless side.met
          elsif side.group.empty?
            side.group << element
            other.group.each { |left| out << left } if @kind == :semi
            other.group = []
          end
        else
          other.group.each { |match| out << (index.zero? ? construct(element, match) : construct(match, element)) }
          side.group << element
        end
      end

      def close(out)
        @sides.each_with_index do |side, index|
          side.group.each { |element| give_alone(index, element, out) } if side.outer && !side.met
          side.group = []
          side.met = false
        end
      end

      def give_alone(index, element, out)
        out << if @halves then element
               else index.zero? ? construct(element, nil) : construct(nil, element)
               end
      end
    end

    # Each left element with the newest right one that is not after it.
    class AsOfJoin < Together
      def initialize(left, right, on:, by: nil, within: nil, kind: :left, &construct)
        super(left, right)
        raise ArgumentError, "kind: of an as-of join is :left or :inner, not #{kind.inspect}" unless %i[left inner].include?(kind)
        @times = Key.pair(on)
        @groups = by ? Key.pair(by, nils: true) : nil
        @within = within
        @inner = kind == :inner
        @construct = construct
      end

      def construct(left, right) = @construct ? @construct.call(left, right) : [left, right]

      def start
        @newest = {} # the right element and its time, by group
        @queues = [[], []]
        @keys = [[], []]
        @at = [0, 0]
        @over = [false, false]
        @last = [nil, nil]
      end

      def wants?(index) = empty?(index)
      def complete? = @over[0] && empty?(0)

      def receive(index, batch, out)
        @keys[index], error = Order.keys(batch, @times[index], @last[index], index)
        @queues[index] = batch
        @at[index] = 0
        @last[index] = @keys[index].reverse_each.find { |time| !time.nil? } || @last[index]
        advance(out)
        raise error if error
      end

      def ended(index, out)
        @over[index] = true
        advance(out)
      end

      private

      def empty?(index) = @at[index] >= @keys[index].size

      def advance(out)
        until empty?(0)
          time = @keys[0][@at[0]]
          while !empty?(1) && !time.nil? && (@keys[1][@at[1]].nil? || Order.compare(@keys[1][@at[1]], time) <= 0)
            keep
          end
          return if empty?(1) && !@over[1] && !time.nil?
          give(time, out)
        end
      end

      def keep
        right = @queues[1][@at[1]]
        time = @keys[1][@at[1]]
        @newest[@groups ? @groups[1].call(right) : nil] = [right, time] unless time.nil?
        @at[1] += 1
      end

      def give(time, out)
        left = @queues[0][@at[0]]
        @at[0] += 1
        right, when_right = time.nil? ? nil : @newest[@groups ? @groups[0].call(left) : nil]
        found = !when_right.nil? && (@within.nil? || time - when_right <= @within)
        out << construct(left, found ? right : nil) if found || !@inner
      end
    end
  end
end
