# frozen_string_literal: true

module Kumihimo
  module Operators
    # The join of two sorted inputs. Both sides keep the elements of the key that is now being joined; a smaller key cannot come
    # any more. An input is read only when its next key is not known.
    class MergeJoin < SortedInputs
      # Besides what has come: the elements of the current key, whether one of them has met one of the other side, and whether
      # those that have not are given.
      class Side < SortedInputs::Side
        attr_reader :outer
        attr_accessor :group, :met

        def initialize(by, outer)
          super(by)
          @outer = outer
          @group = []
          @met = false
        end
      end

      def initialize(left, right, on:, kind: :inner, &construct)
        super(left, right)
        raise ArgumentError, "kind: is one of #{KINDS.map(&:inspect).join(", ")}, not #{kind.inspect}" unless KINDS.include?(kind)
        @kind = kind
        @construct = construct
        @keys = Key.pair(on)
      end

      def construct(left, right) = @construct ? @construct.call(left, right) : [left, right]

      def start
        outer = [@kind == :left || @kind == :full || @kind == :anti, @kind == :right || @kind == :full]
        @sides = Array.new(2) { |index| Side.new(@keys[index], outer[index]) }
        @halves = @kind == :semi || @kind == :anti
        @plain = @construct.nil? && method(:construct).owner == MergeJoin
        @some = false # whether there is a current key
      end

      # One side has ended, has nothing of the current key, and the other's elements are not given without it.
      def __complete?
        left, right = @sides
        passed?(left, right) || passed?(right, left)
      end

      # The last key's elements.
      def __drain(out, _max)
        close(out)
        false
      end

      private

      def passed?(side, other) = side.over && side.empty? && side.group.empty? && !other.outer && other.group.empty?

      def advance(out)
        left, right = @sides
        # No `loop`, which would take a StopIteration of the program's for its end.
        while true
          join_equal(0, left, right, out)
          join_equal(1, right, left, out)
          return if left.empty? ? !left.over || right.empty? : right.empty? && !right.over
          close(out)
          @current =
            if left.empty? then right.key
            elsif right.empty? then left.key
            else Order.compare(left.key, right.key).positive? ? right.key : left.key
            end
          @some = true
        end
      end

      # Takes the next elements of a side as long as they have the current key, or none, which is equal to nothing.
      def join_equal(index, side, other, out)
        at = side.at
        keys = side.keys
        size = keys.size
        elements = side.elements
        current = @current
        taken = false
        while at < size
          key = keys[at]
          if key.nil?
            give_alone(index, elements[at], out) if side.outer
          elsif @some && (key.eql?(current) || Order.compare(key, current).zero?)
            taken = true
            @halves ? add_half(index, side, other, elements[at], out) : add_pairs(index, side, other, elements[at], out)
          else
            break
          end
          at += 1
        end
        side.at = at
        return unless taken
        other.met = true
        side.met ||= !other.group.empty?
      end

      def add_pairs(index, side, other, element, out)
        others = other.group
        count = others.size
        at = 0
        while at < count
          match = others[at]
          if index.zero?
            out << (@plain ? [element, match] : construct(element, match))
          else
            out << (@plain ? [match, element] : construct(match, element))
          end
          at += 1
        end
        side.group << element
      end

      # Of the right one element is enough; of the left those are kept that wait for it.
      def add_half(index, side, other, element, out)
        if index.zero?
          if other.group.empty? then side.group << element
          elsif @kind == :semi then out << element
          end
        elsif side.group.empty?
          side.group << element
          out.concat(other.group) if @kind == :semi
          other.group = []
        end
      end

      # The current key is over.
      def close(out)
        left, right = @sides
        close_side(0, left, out) unless left.group.empty?
        close_side(1, right, out) unless right.group.empty?
        left.met = right.met = false
      end

      def close_side(index, side, out)
        side.group.each { |element| give_alone(index, element, out) } if side.outer && !side.met
        side.group = []
      end

      def give_alone(index, element, out)
        out << if @halves then element
               else index.zero? ? construct(element, nil) : construct(nil, element)
               end
      end
    end

    # Each left element with the newest right one that is not after it.
    class AsOfJoin < SortedInputs
      def initialize(left, right, on:, by: nil, within: nil, kind: :left, &construct)
        super(left, right)
        raise ArgumentError, "kind: of an as-of join is :left or :inner, not #{kind.inspect}" unless %i[left inner].include?(kind)
        @times = Key.pair(on)
        @groups = by ? Key.pair(by, name: :by) : [->(_) { true }] * 2
        @within = within
        @inner = kind == :inner
        @construct = construct
      end

      def construct(left, right) = @construct ? @construct.call(left, right) : [left, right]

      def start
        @newest = {} # the right element and its time, by group
        @sides = @times.map { |time| Side.new(time) }
      end

      def __complete? = @sides[0].over && @sides[0].empty?

      private

      def advance(out)
        lefts, rights = @sides
        until lefts.empty?
          time = lefts.key
          while !time.nil? && !rights.empty? && (rights.key.nil? || Order.compare(rights.key, time) <= 0)
            keep(rights)
          end
          return if rights.empty? && !rights.over && !time.nil?
          give(lefts.element, time, out)
          lefts.at += 1
        end
      end

      def keep(rights)
        right = rights.element
        time = rights.key
        group = time.nil? ? nil : @groups[1].call(right)
        @newest[group] = [right, time] unless group.nil?
        rights.at += 1
      end

      def give(left, time, out)
        right, when_right = time.nil? ? nil : @newest[@groups[0].call(left)]
        found = !when_right.nil? && (@within.nil? || time - when_right <= @within)
        out << construct(left, found ? right : nil) if found || !@inner
      end
    end
  end
end
