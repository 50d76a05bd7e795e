# frozen_string_literal: true

module Kumihimo
  module Operators
    # The first element of each key, at once. Over its bound, the largest partition's keys go to disk; an element whose key is
    # not among that partition's newer ones then waits on disk until the end, when it is known whether its key was there.
    class Distinct < KeyedOperator
      # Keys in memory that came out, then on disk: keys that came out, elements that wait.
      Part = Struct.new(:keys, :known, :waiting)

      def start
        super
        return @seen = {} unless @options
        @parts = Array.new(Partition::COUNT) { Part.new({}) }
        @held = 0
        @work = nil
      end

      def each(&block)
        return super if @options || !block
        seen = {}
        key = @key
        @__input.each do |element|
          value = key.call(element)
          next if seen[value]
          seen[value] = true
          yield element
        end
        self
      end

      def process(element)
        value = @key.call(element)
        return bounded(value, element) { yield element } if @options
        return if @seen[value]
        @seen[value] = true
        yield element
      end

      # What waited, partition by partition; one too large to hold is cut again.
      def __drain(out, max)
        return false unless @options
        @work ||= @parts.filter_map { |part| [part, 1] if part.waiting }
        until @work.empty? || out.size >= max
          part, depth = @work.shift
          settle(part)
          if cut?(part.known.count + part.waiting.count, depth)
            @work.concat(pieces(part, depth))
          else
            seen = {}
            part.known.each { |_, value| seen[value] = true }
            part.waiting.each do |_, element|
              value = @key.call(element)
              out << element unless seen[value]
              seen[value] = true
            end
          end
        end
        !@work.empty?
      end

      private

      def bounded(value, element)
        part = @parts[Partition.of(value)]
        return if part.keys[value]
        return part.waiting.add(0, element) if part.known
        part.keys[value] = true
        @held += 1
        @budget.see(element)
        spill if @held > @budget.limit
        yield
      end

      def spill
        part = @parts.max_by { |candidate| candidate.keys.size }
        part.known = Shelf.new(@spill)
        part.waiting = Shelf.new(@spill)
        settle(part)
      end

      def settle(part)
        part.keys.each_key { |value| part.known.add(0, value) }
        @held -= part.keys.size
        part.keys = {}
        part.known.flush
      end

      # The keys and elements of a partition, cut alike.
      def pieces(part, depth)
        pieces = Array.new(Partition::COUNT) { Part.new({}, Shelf.new(@spill), Shelf.new(@spill)) }
        part.known.each { |_, value| pieces[Partition.of(value, depth)].known.add(0, value) }
        part.waiting.each { |_, element| pieces[Partition.of(@key.call(element), depth)].waiting.add(0, element) }
        pieces.reject { |piece| piece.waiting.empty? }.map { |piece| [piece, depth + 1] }
      end
    end
  end
end
