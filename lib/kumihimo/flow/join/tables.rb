# frozen_string_literal: true

module Kumihimo
  module Operators
    # An element in a table of a join, and whether it has met one that it belongs to.
    Entry = Struct.new(:element, :matched)

    # Entries by equal keys.
    class HashTable
      attr_reader :size

      def initialize
        @buckets = {}
        @size = 0
      end

      def empty? = @size.zero?

      # The entries that a key of the other side may match, or nil.
      def bucket(key) = @buckets[key]

      def add(key, entry)
        bucket = @buckets[key]
        bucket ? bucket << entry : @buckets[key] = [entry]
        @size += 1
      end

      # Takes away a bucket, or its entries that have matched.
      def remove(key)
        bucket = @buckets.delete(key)
        @size -= bucket.size if bucket
      end

      def remove_matched(key)
        bucket = @buckets[key]
        before = bucket.size
        bucket.reject!(&:matched)
        @size -= before - bucket.size
        @buckets.delete(key) if bucket.empty?
      end

      def each_entry(&block)
        @buckets.each_value { |bucket| bucket.each(&block) }
      end
    end

    # A key with extent: from low to high (nil: no bound), without high if `open`.
    Interval = Struct.new(:low, :high, :open) do
      # The interval of what a key gives: a Range, [low, high], or a single value.
      def self.of(key)
        ->(element) do
          value = key.call(element)
          case value
          when nil then nil
          when Range then new(value.begin, value.end, value.exclude_end? && !value.end.nil?)
          when Array
            raise ArgumentError, "a range is a Range or [low, high], not #{value.inspect}" unless value.size == 2
            new(value[0], value[1], false)
          else new(value, value, false)
          end
        end
      end

      # Of a value, what `band` reaches from there.
      def self.band(key, band)
        low = band.begin
        high = band.end
        open = band.exclude_end? && !high.nil?
        ->(element) do
          value = key.call(element)
          value.nil? ? nil : new(low && value + low, high && value + high, open)
        end
      end

      # Whether it ends before `value` begins.
      def before?(value) = !high.nil? && (high < value || (open && high == value))

      # Whether it covers nothing: a bound that is not equal to itself (NaN) is not in any order.
      def empty?
        low != low || high != high || (!low.nil? && !high.nil? && (high < low || (open && high == low)))
      end

      def overlaps?(other)
        !(other.low && before?(other.low)) && !(low && other.before?(low))
      end
    end

    # Entries by intervals: found by an interval that overlaps theirs. Sorted runs of doubling length (the logarithmic method),
    # each an implicit interval tree; the newest entries in a short list. An entry stays when it is removed: joins of which it
    # is no use any more look at `matched`.
    class RangeTable
      SHORT = 32

      attr_reader :size

      def initialize
        @newest = []
        @runs = [] # runs[i] is nil or has SHORT * 2**i items
        @size = 0
      end

      def empty? = @size.zero?

      def bucket(interval)
        return nil if interval.empty?
        found = []
        @newest.each { |item| found << item[1] if interval.overlaps?(item[0]) }
        @runs.each { |run| run&.find(interval, found) }
        found.empty? ? nil : found
      end

      def add(interval, entry)
        @size += 1
        return if interval.empty? && (@hollow ||= []) << entry
        @newest << [interval, entry]
        return if @newest.size < SHORT
        items = @newest
        @newest = []
        level = 0
        while (run = @runs[level])
          items = items.concat(run.items)
          @runs[level] = nil
          level += 1
        end
        @runs[level] = Run.new(items)
      end

      def remove_matched(_interval); end

      def each_entry(&block)
        @hollow&.each(&block)
        @newest.each { |item| yield item[1] }
        @runs.each { |run| run&.items&.each { |item| yield item[1] } }
      end

      # Items [interval, entry] sorted by low bound, those without one first; `reach[i]` is the item with the greatest high bound
      # in the subtree that has item i at its top.
      class Run
        attr_reader :items

        def initialize(items)
          unbounded, bounded = items.partition { |item| item[0].low.nil? }
          @items = unbounded + bounded.sort_by! { |item| item[0].low }
          @reach = Array.new(@items.size)
          build(0, @items.size)
        end

        def find(interval, found) = search(0, @items.size, interval, found)

        private

        def build(first, after)
          return nil if first >= after
          middle = (first + after) / 2
          farthest = @items[middle][0]
          [build(first, middle), build(middle + 1, after)].each do |other|
            farthest = other if other && farther?(other, farthest)
          end
          @reach[middle] = farthest
        end

        def farther?(one, other)
          return false if other.high.nil?
          one.high.nil? || one.high > other.high || (one.high == other.high && other.open && !one.open)
        end

        def search(first, after, interval, found)
          while first < after
            middle = (first + after) / 2
            return if interval.low && @reach[middle].before?(interval.low)
            search(first, middle, interval, found)
            own, entry = @items[middle]
            return if own.low && interval.before?(own.low)
            found << entry if interval.overlaps?(own)
            first = middle + 1
          end
        end
      end
      private_constant :Run
    end
  end
end
