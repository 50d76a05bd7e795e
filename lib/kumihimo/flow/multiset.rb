# frozen_string_literal: true

module Kumihimo
  module Operators
    # Intersection and difference in which numbers count. A table holds for each element how many more of the left (positive)
    # or of the right (negative) have come. Over its bound, the largest partition's counts go to disk; what they add up to is
    # seen at the end.
    class Multiset < Together
      include Bounded

      # Intersection or difference; with `all` numbers count, else each element comes once.
      def self.of(left, right, operation, all, memory: nil, rows: nil, codec: Marshal)
        return new(left, right, operation, Budget.options(memory, rows, codec)) if all
        left.distinct(memory: memory, rows: rows, codec: codec)
            .join(right, on: :itself.to_proc, nils: true, kind: operation == :intersect ? :semi : :anti, memory: memory, rows: rows, codec: codec)
      end

      Part = Struct.new(:surplus, :shelf)

      def initialize(left, right, operation, options)
        super(left, right)
        @except = operation == :except
        @options = options
      end

      def start
        super
        @parts = Array.new(@options ? Partition::COUNT : 1) { Part.new({}) }
        @over = [false, false]
        @held = 0
      end

      # With nothing of the left to come and none kept, there is nothing more to give.
      def __complete? = @over[0] && @parts.all? { |part| part.surplus.empty? && !part.shelf }

      def __receive(index, batch, out)
        index.zero? ? left(batch, out) : right(batch, out)
      end

      # What the left has more of is certain now, or no use; what the right has more of is no use when the left has ended.
      def __ended(index, out)
        @over[index] = true
        @parts.each do |part|
          next if part.shelf
          if index.zero? then free(part) { |count| count.negative? }
          elsif @except then give(part, out)
          else free(part) { |count| count.positive? }
          end
        end
      end

      def __drain(out, max)
        @work ||= @parts.filter_map { |part| [write(part) && part.shelf, 1] if part.shelf }
        until @work.empty? || out.size >= max
          shelf, depth = @work.shift
          if cut?(shelf.count, depth)
            @work.concat(cut(shelf, depth, &:itself))
          else
            settle(shelf, out)
          end
        end
        !@work.empty?
      end

      private

      def part_of(element) = @options ? @parts[Partition.of(element)] : @parts[0]

      def left(batch, out)
        batch.each do |element|
          part = part_of(element)
          count = part.surplus[element]
          if count&.negative?
            change(part, element, count + 1)
            out << element unless @except
          elsif @over[1] && !part.shelf
            out << element if @except
          else
            change(part, element, (count || 0) + 1, !count)
          end
        end
      end

      def right(batch, out)
        batch.each do |element|
          part = part_of(element)
          count = part.surplus[element]
          if count&.positive?
            change(part, element, count - 1)
            out << element unless @except
          elsif !@over[0] || part.shelf
            change(part, element, (count || 0) - 1, !count)
          end
        end
      end

      def change(part, element, count, new = false)
        if count.zero?
          part.surplus.delete(element)
          @held -= 1 if @budget
        else
          part.surplus[element] = count
          return unless new && @budget
          @held += 1
          @budget.see(element)
          return unless @held > @budget.limit
          largest = @parts.max_by { |candidate| candidate.surplus.size }
          largest.shelf ||= Shelf.new(@spill)
          write(largest)
        end
      end

      def write(part)
        part.surplus.each { |element, count| part.shelf.add(count, element) }
        part.shelf.flush
        @held -= part.surplus.size
        part.surplus = {}
        true
      end

      def give(part, out)
        part.surplus.each { |element, count| count.times { out << element } if count.positive? }
        free(part) { |count| count.positive? }
      end

      def free(part)
        before = part.surplus.size
        part.surplus = part.surplus.reject { |_, count| yield count }
        @held -= before - part.surplus.size if @budget
      end

      def settle(shelf, out)
        left = Hash.new(0)
        right = Hash.new(0)
        shelf.each { |count, element| count.positive? ? left[element] += count : right[element] -= count }
        left.each do |element, count|
          more = @except ? count - right[element] : [count, right.fetch(element, 0)].min
          more.times { out << element } if more.positive?
        end
      end
    end
  end
end
