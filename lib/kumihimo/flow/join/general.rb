# frozen_string_literal: true

module Kumihimo
  module Operators
    KINDS = %i[inner left right full semi anti].freeze
    UNIQUE = [nil, :left, :right, :both].freeze

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
      # By side (left 0, right 1) the table, and the shelf once something is on disk; then the generation.
      Part = Struct.new(:tables, :shelves, :generation) do
        def size = tables[0].size + tables[1].size
        def spilled? = !shelves[0].nil?
      end

      def initialize(join, keys, maker, conditional, ranged, budget)
        @join = join
        @keys = keys
        @maker = maker
        @conditional = conditional
        @table = ranged ? RangeTable : HashTable
        @kind = join.__kind
        @halves = @kind == :semi || @kind == :anti # gives left elements, not pairs
        # Of each side: is there a result for one that meets nobody, do its keys not repeat, has it ended?
        @outer = [%i[left full anti].include?(@kind), %i[right full].include?(@kind)]
        @unique = [%i[left both].include?(join.__unique), %i[right both].include?(join.__unique)]
        @over = [false, false]
        @nils = join.__nils?
        raise ArgumentError, "unique: is for joins by equal keys" if join.__unique && ranged
        @parts = Array.new(budget && !ranged ? Partition::COUNT : 1) { Part.new(tables, [nil, nil], 0) }
        @held = 0
        return unless budget
        @budget = budget
        @spill = Spill.new(budget.codec)
      end

      def left(batch, out)
        batch.each { |element| one(0, element, out) }
      end

      def right(batch, out)
        batch.each { |element| one(1, element, out) }
      end

      # What the other side's elements have not met is certain now, but where elements of this side are on disk.
      def ended(index, out)
        @over[index] = true
        other = 1 - index
        @parts.each do |part|
          if part.spilled?
            shelve(part, other)
          elsif @outer[other]
            part.tables[other].each_entry { |entry| out << alone(other, entry.element) unless entry.matched }
          end
          part.tables[other] = @table.new
        end
      end

      # A side has ended and has nothing that the other's elements could meet, nor are those given without.
      def complete?
        return false if !@over.any? || @parts.any?(&:spilled?)
        [0, 1].any? { |index| @over[index] && !@outer[1 - index] && @parts.all? { |part| part.tables[index].empty? } }
      end

      def drain(out, max)
        return false unless @spill
        @remains ||= begin
          @parts.each { |part| write(part) if part.spilled? }
          Remains.new(self, @parts.select(&:spilled?))
        end
        @remains.drain(out, max)
      end

      def stop = @spill&.close

      # Takes over an element that has met all that were taken over before.
      def adopt(index, key, element)
        part_of(key).tables[index].add(key, Entry.new(element, true))
        @held += 1
      end

      # Puts the largest partitions on disk until the rest is within the bound.
      def spill
        # Elements leave tables in several ways: the sum is taken when it matters.
        @held = @parts.sum(&:size)
        write(@parts.max_by(&:size)) while @held > @budget.limit
      end

      # ---- for Remains

      attr_reader :keys, :outer, :halves, :kind, :table, :budget

      def together?(left, right) = !@conditional || @join.condition(left, right)
      def make(left, right) = @maker ? @maker.call(left, right) : [left, right]

      # The result for an element that has met nobody.
      def alone(index, element)
        return make(nil, element) unless index.zero?
        @halves ? element : make(element, nil)
      end

      private

      def tables = [@table.new, @table.new]
      def part_of(key) = @parts.size == 1 ? @parts[0] : @parts[Partition.of(key)]

      def one(index, element, out)
        key = @keys[index].call(element)
        if key.nil? && !@nils
          out << alone(index, element) if @outer[index]
          return
        end
        part = part_of(key)
        bucket = part.tables[1 - index].bucket(key)
        if !@halves then pairs(index, part, key, bucket, element, out)
        elsif index.zero? then left_half(part, key, bucket, element, out)
        else right_half(part, key, bucket, element, out)
        end
      end

      def pairs(index, part, key, bucket, element, out)
        met = false
        bucket&.each do |entry|
          left = index.zero? ? element : entry.element
          right = index.zero? ? entry.element : element
          next unless together?(left, right)
          met = entry.matched = true
          out << make(left, right)
        end
        leave(1 - index, part, key, bucket, out) if bucket && @unique[index]
        stay(index, part, key, bucket, element, met, out)
      end

      # Of semi and anti joins: the left element is needed until it has met one.
      def left_half(part, key, bucket, element, out)
        met = bucket&.any? { |entry| together?(element, entry.element) }
        part.tables[1].remove(key) if bucket && @unique[0]
        return stay(0, part, key, bucket, element, false, out) unless met
        out << element if @kind == :semi
      end

      # ... and the right one tells those that wait for it.
      def right_half(part, key, bucket, element, out)
        met = false
        bucket&.each do |entry|
          next if entry.matched || !together?(entry.element, element)
          met = entry.matched = true
          out << entry.element if @kind == :semi
        end
        part.tables[0].remove_matched(key) if met
        return if (@over[0] && !part.spilled?) || (met && @unique[0])
        return part.shelves[1].add(part.generation * 2, element) if @over[0]
        # One element of each key tells as much as many.
        keep(1, part, key, element, false) if @conditional || @table != HashTable || !part.tables[1].bucket(key)
      end

      # The other side's only element of the key has come: those that wait for it need not be kept.
      def leave(index, part, key, bucket, out)
        bucket.each { |entry| out << alone(index, entry.element) unless entry.matched } if @outer[index]
        part.tables[index].remove(key)
      end

      # An element that has met all that have come, which are the bucket: it waits for the others, if any may come.
      def stay(index, part, key, bucket, element, met, out)
        other = 1 - index
        if (bucket && @unique[other]) || (@over[other] && !part.spilled?)
          out << alone(index, element) if !met && @outer[index]
        elsif @over[other]
          part.shelves[index].add(part.generation * 2 + (met ? 1 : 0), element)
        else
          if @unique[index] && part.tables[index].bucket(key)
            raise Flow::UniqueError, "unique: #{key.inspect} came twice in the #{index.zero? ? "left" : "right"} input"
          end
          keep(index, part, key, element, met)
        end
      end

      def keep(index, part, key, element, met)
        part.tables[index].add(key, Entry.new(element, met))
        return unless @budget
        @budget.see(element)
        @held += 1
        spill if @held > @budget.limit
      end

      def write(part)
        part.shelves = [Shelf.new(@spill), Shelf.new(@spill)] unless part.spilled?
        @held -= part.size
        shelve(part, 0)
        shelve(part, 1)
        part.tables = tables
        part.generation += 1
      end

      def shelve(part, index)
        shelf = part.shelves[index]
        part.tables[index].each_entry do |entry|
          next if @halves && entry.matched
          shelf.add(part.generation * 2 + (entry.matched ? 1 : 0), entry.element)
        end
        shelf.flush
      end
    end
  end
end
