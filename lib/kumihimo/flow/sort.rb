# frozen_string_literal: true

module Kumihimo
  module Operators
    # All elements in order. Over its bound a sorted run goes to disk, and runs are merged as the result is read.
    class Sort < KeyedOperator
      include AtEnd

      def initialize(input, key, compare, reverse, options)
        super(input, key, options)
        raise ArgumentError, "sort takes a key or a block that compares, not both" if compare && !key.equal?(Key::ITSELF)
        @compare = compare
        @reverse = reverse
      end

      def start
        super
        @elements = []
        @runs = nil
        @sorted = false
      end

      def process(element)
        @elements << element
        return unless @budget
        @budget.see(element)
        write_run if @elements.size >= @budget.limit
      end

      def __drain(out, max)
        unless @sorted
          @sorted = true
          @runs ? begin_merge : order_all
        end
        return merge_runs(out, max) if @runs
        if @elements.size <= max
          out.concat(@elements)
          @elements = []
        else
          out.concat(@elements.shift(max))
        end
        !@elements.empty?
      end

      private

      def order_all
        if @compare then @elements.sort!(&@compare)
        elsif @key.equal?(Key::ITSELF) then @elements.sort!
        else @elements.sort_by!(&@key)
        end
        @elements.reverse! if @reverse
      end

      def write_run
        order_all
        run = Shelf.new(@spill)
        @elements.each { |element| run.add(0, element) }
        run.flush
        (@runs ||= []) << run
        @elements = []
      end

      # How many runs are merged at once: of each, a block is in memory.
      WAYS = 64

      def begin_merge
        write_run unless @elements.empty?
        while @runs.size > WAYS
          first = @runs.shift(WAYS)
          merged = Shelf.new(@spill)
          heap = heap_of(first)
          until heap.empty?
            merged.add(0, pop(heap))
          end
          merged.flush
          @runs << merged
        end
        @heap = heap_of(@runs)
      end

      def merge_runs(out, max)
        out << pop(@heap) until @heap.empty? || out.size >= max
        !@heap.empty?
      end

      # The place in a run: its shelf, block, index there, and the element and key at it.
      Place = Struct.new(:shelf, :block, :elements, :at, :element, :key)

      def heap_of(runs)
        heap = []
        runs.each do |run|
          place = Place.new(run, -1, [], 0)
          next unless advance(place)
          heap << place
          rise(heap)
        end
        heap
      end

      def advance(place)
        place.at += 1
        if place.at >= place.elements.size
          _, place.elements = place.shelf.block(place.block += 1)
          return false unless place.elements
          place.at = 0
        end
        place.element = place.elements[place.at]
        place.key = @compare ? place.element : @key.call(place.element)
        true
      end

      def pop(heap)
        top = heap[0]
        element = top.element
        unless advance(top)
          last = heap.pop
          return element if heap.empty?
          heap[0] = last
        end
        sink(heap)
        element
      end

      def before?(one, other)
        order = @compare ? @compare.call(one.key, other.key) : one.key <=> other.key
        raise ArgumentError, "comparison of #{one.key.class} with #{other.key.class} failed" unless order
        @reverse ? order.positive? : order.negative?
      end

      def rise(heap)
        at = heap.size - 1
        while at.positive? && before?(heap[at], heap[above = (at - 1) / 2])
          heap[at], heap[above] = heap[above], heap[at]
          at = above
        end
      end

      def sink(heap)
        at = 0
        while (below = 2 * at + 1) < heap.size
          below += 1 if below + 1 < heap.size && before?(heap[below + 1], heap[below])
          break unless before?(heap[below], heap[at])
          heap[at], heap[below] = heap[below], heap[at]
          at = below
        end
      end
    end
  end
end
