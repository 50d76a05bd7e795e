# frozen_string_literal: true

module Kumihimo
  module Operators
    # How much an operator may hold in memory, as a number of elements. A bound in bytes is made into one by the size of
    # samples: what the codec writes of an element, and what an object and its place in a table cost beside that.
    class Budget
      Options = Struct.new(:bytes, :rows, :codec)
      UNITS = { "" => 1, "B" => 1, "K" => 1 << 10, "M" => 1 << 20, "G" => 1 << 30, "T" => 1 << 40 }.freeze

      # Cost of an element beside its data: header, table entry, one array.
      OVERHEAD = 96
      # Every so manieth element is measured, after the first FIRST of them.
      EVERY = 256
      FIRST = 8
      # Taken for an element that the codec cannot write: it is an error only if it must be written.
      UNKNOWN = 512

      # nil when there is no bound.
      def self.options(memory, rows, codec)
        if rows && !(rows.is_a?(Integer) && rows.positive?)
          raise ArgumentError, "rows: takes a positive Integer, not #{rows.inspect}"
        end
        codec ||= Marshal
        raise ArgumentError, "codec: takes what has dump and load, not #{codec.inspect}" unless codec.respond_to?(:dump) && codec.respond_to?(:load)
        return nil unless memory || rows
        Options.new(memory && bytes(memory), rows, codec)
      end

      def self.bytes(memory)
        amount =
          case memory
          when Integer then memory
          when /\A\s*(\d+(?:\.\d+)?)\s*([BKMGT]?)(?:i?B)?\s*\z/i then ($1.to_r * UNITS.fetch($2.upcase)).to_i
          end
        raise ArgumentError, "memory: takes a number of bytes or a String like \"64M\", not #{memory.inspect}" unless amount&.positive?
        amount
      end

      attr_reader :limit, :codec

      def initialize(options)
        @bytes = options.bytes
        @limit = options.rows || Float::INFINITY
        @rows = @limit
        @codec = options.codec
        @seen = @measured = @total = 0
      end

      # To be told of each element that is kept.
      def see(element)
        return unless @bytes
        @seen += 1
        measure(element) if @seen <= FIRST || (@seen % EVERY).zero?
      end

      # As `see` for each, with fewer samples.
      def see_all(batch)
        return unless @bytes
        before = @seen
        @seen += batch.size
        measure(batch[0]) if before < FIRST || before / EVERY != @seen / EVERY
      end

      private

      def measure(element)
        @total += OVERHEAD + size(element)
        @measured += 1
        by_bytes = @bytes * @measured / @total
        by_bytes = 1 if by_bytes < 1
        @limit = by_bytes < @rows ? by_bytes : @rows
      end

      def size(element)
        @codec.dump([[0], [element]]).bytesize
      rescue StandardError
        UNKNOWN
      end
    end
  end
end
