# frozen_string_literal: true

module Kumihimo
  module Flow
    # Every kind of join, with conditions, ranges and a bound on memory.
    #
    # Elements are in partitions by their key's hash (one partition when there is no bound, or no key to hash). All pairs of
    # elements that are in a partition's tables at the same time have been tried. Over the bound, both tables of the largest
    # partition go to disk under the partition's *generation*, a number that is then raised. So two elements have been tried
    # if and only if their generations are equal, and at the end Remains tries the other pairs: none is lost or doubled. New
    # elements of such a partition go on meeting each other in memory.
    #
    # A result is given as soon as it is certain. An element is kept only if it may still be needed: of semi and anti joins,
    # left elements that have met nobody; of an input whose other has ended, only those that must meet elements on disk.
    class GeneralJoin
      Part = Struct.new(:left, :right, :generation, :left_shelf, :right_shelf)

      def initialize(join, keys, maker, conditional, ranged, budget)
        @join = join
        @left_key, @right_key = keys
        @maker = maker
        @conditional = conditional
        @table = ranged ? RangeTable : HashTable
        @kind = join.kind
        @halves = @kind == :semi || @kind == :anti # gives left elements, not pairs
        @left_outer = @kind == :left || @kind == :full
        @right_outer = @kind == :right || @kind == :full
        @nils = join.nils?
        @left_unique = %i[left both].include?(join.unique)
        @right_unique = %i[right both].include?(join.unique)
        raise ArgumentError, "unique: is for joins by equal keys" if join.unique && ranged
        @over = [false, false]
        @parts = Array.new(budget && !ranged ? Partition::COUNT : 1) { Part.new(@table.new, @table.new, 0) }
        @held = 0
        return unless budget
        @budget = budget
        @spill = Spill.new(budget.codec)
      end

      def left(batch, out)
        batch.each { |element| left_one(element, out) }
      end

      def right(batch, out)
        batch.each { |element| right_one(element, out) }
      end

      # What the other side's elements have not met is certain now, but where elements of this side are on disk.
      def ended(index, out)
        @over[index] = true
        @parts.each do |part|
          if index.zero?
            if part.left_shelf
              shelve(part.right_shelf, part.right, part)
            elsif @right_outer
              part.right.each_entry { |entry| out << make(nil, entry.element) unless entry.matched }
            end
            part.right = @table.new
          else
            if part.right_shelf
              shelve(part.left_shelf, part.left, part)
            elsif @left_outer || @kind == :anti
              part.left.each_entry { |entry| out << alone(entry.element) unless entry.matched }
            end
            part.left = @table.new
          end
        end
      end

      def complete?
        return false if @parts.any?(&:left_shelf)
        return true if @over[0] && !@right_outer && @parts.all? { |part| part.left.empty? }
        @over[1] && (@kind == :inner || @kind == :right || @kind == :semi) && @parts.all? { |part| part.right.empty? }
      end

      def drain(out, max)
        return false unless @spill
        @remains ||= begin
          @parts.each { |part| write(part) if part.left_shelf }
          Remains.new(self, @parts.select(&:left_shelf))
        end
        @remains.drain(out, max)
      end

      def stop = @spill&.close

      # Takes over an element that has met all that were taken over before.
      def adopt(index, key, element)
        part = part_of(key)
        (index.zero? ? part.left : part.right).add(key, Entry.new(element, true))
        @held += 1
      end

      # Puts the largest partitions on disk until the rest is within the bound.
      def spill
        # Elements leave tables in several ways: the sum is taken when it matters.
        @held = @parts.sum { |part| part.left.size + part.right.size }
        write(@parts.max_by { |part| part.left.size + part.right.size }) while @held > @budget.limit
      end

      # ---- for Remains

      attr_reader :left_key, :right_key, :left_outer, :right_outer, :halves, :kind, :table, :budget

      def together?(left, right) = !@conditional || @join.condition(left, right)
      def make(left, right) = @maker ? @maker.call(left, right) : [left, right]

      # The result for a left element that has met nobody.
      def alone(left) = @halves ? left : make(left, nil)

      private

      def part_of(key) = @parts.size == 1 ? @parts[0] : @parts[Partition.of(key)]

      def left_one(element, out)
        key = @left_key.call(element)
        if key.nil? && !@nils
          out << alone(element) if @left_outer || @kind == :anti
          return
        end
        part = part_of(key)
        bucket = part.right.bucket(key)
        met = false
        bucket&.each do |entry|
          next unless together?(element, entry.element)
          met = true
          break if @halves
          entry.matched = true
          out << make(element, entry.element)
        end
        if @halves && met
          out << element if @kind == :semi
          return part.right.remove(key) if @left_unique
          return
        end
        leave_right(part, key, bucket, out) if bucket && @left_unique
        if (bucket && @right_unique) || (@over[1] && !part.right_shelf)
          out << alone(element) if !met && (@left_outer || @kind == :anti)
        elsif @over[1]
          part.left_shelf.add(part.generation * 2 + (met ? 1 : 0), element)
        else
          if @left_unique && part.left.bucket(key)
            raise UniqueError, "unique: #{key.inspect} came twice in the left input"
          end
          keep(part, part.left, key, element, met)
        end
      end

      def right_one(element, out)
        key = @right_key.call(element)
        if key.nil? && !@nils
          out << make(nil, element) if @right_outer
          return
        end
        part = part_of(key)
        bucket = part.left.bucket(key)
        met = false
        bucket&.each do |entry|
          next if @halves && entry.matched
          next unless together?(entry.element, element)
          met = true
          entry.matched = true
          if !@halves then out << make(entry.element, element)
          elsif @kind == :semi then out << entry.element
          end
        end
        if @halves
          part.left.remove_matched(key) if met
          return if (@over[0] && !part.left_shelf) || (met && @left_unique)
          return part.right_shelf.add(part.generation * 2, element) if @over[0]
          # One element of each key tells as much as many.
          return if !@conditional && @table == HashTable && part.right.bucket(key)
          return keep(part, part.right, key, element, false)
        end
        leave_left(part, key, bucket, out) if bucket && @right_unique
        if (bucket && @left_unique) || (@over[0] && !part.left_shelf)
          out << make(nil, element) if !met && @right_outer
        elsif @over[0]
          part.right_shelf.add(part.generation * 2 + (met ? 1 : 0), element)
        else
          if @right_unique && part.right.bucket(key)
            raise UniqueError, "unique: #{key.inspect} came twice in the right input"
          end
          keep(part, part.right, key, element, met)
        end
      end

      # The only left element of the key has come: right ones that wait for it need not be kept.
      def leave_right(part, key, bucket, out)
        bucket.each { |entry| out << make(nil, entry.element) unless entry.matched } if @right_outer
        part.right.remove(key)
      end

      def leave_left(part, key, bucket, out)
        bucket.each { |entry| out << alone(entry.element) unless entry.matched } if @left_outer
        part.left.remove(key)
      end

      def keep(part, table, key, element, met)
        table.add(key, Entry.new(element, met))
        return unless @budget
        @budget.see(element)
        @held += 1
        spill if @held > @budget.limit
      end

      def write(part)
        part.left_shelf ||= Shelf.new(@spill)
        part.right_shelf ||= Shelf.new(@spill)
        @held -= part.left.size + part.right.size
        shelve(part.left_shelf, part.left, part)
        shelve(part.right_shelf, part.right, part)
        part.left = @table.new
        part.right = @table.new
        part.generation += 1
      end

      def shelve(shelf, table, part)
        table.each_entry do |entry|
          next if @halves && entry.matched
          shelf.add(part.generation * 2 + (entry.matched ? 1 : 0), entry.element)
        end
        shelf.flush
      end
    end
  end
end
