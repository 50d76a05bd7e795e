# frozen_string_literal: true

module Kumihimo
  module Operators
    # The pairs of a join that did not meet in memory, from what its partitions have on disk. For each partition: as many left
    # elements as the bound allows are put into a table (a chunk), all right ones are read past it; then the next chunk. Which
    # right elements have met a left one is kept over the chunks in a String of bits.
    class Remains
      def initialize(join, parts)
        @join = join
        @parts = parts
        @step = :part
      end

      # About `max` results; true when there are more.
      def drain(out, max)
        until out.size >= max
          case @step
          when :part
            return false unless (part = @parts.shift)
            @lefts, @rights = part.shelves
            @left_block = 0
            @met = @join.outer[1] ? "\0".b * ((@rights.count + 7) / 8) : nil
            @step = :chunk
          when :chunk then load_chunk(out)
          when :pass then pass(out)
          when :rest then rest(out)
          end
        end
        true
      end

      private

      # An entry's mark is its generation and whether it has met, as on the shelf.
      Kept = Struct.new(:element, :matched, :generation)

      def load_chunk(out)
        @chunk = @join.table.new
        while @chunk.size < @join.budget.limit
          numbers, elements = @lefts.block(@left_block)
          break unless elements
          @left_block += 1
          elements.each_with_index do |element, at|
            number = numbers[at]
            @chunk.add(@join.keys[0].call(element), Kept.new(element, number.odd?, number >> 1))
          end
        end
        @right_block = 0
        @right_index = 0
        @step = @chunk.empty? ? :rest : :pass
      end

      # One block of right elements past the chunk.
      def pass(out)
        numbers, elements = @rights.block(@right_block)
        return end_chunk(out) unless elements
        @right_block += 1
        elements.each_with_index do |element, at|
          generation = numbers[at] >> 1
          met = false
          @chunk.bucket(@join.keys[1].call(element))&.each do |kept|
            if @join.halves
              next if kept.matched || !@join.together?(kept.element, element)
              kept.matched = true
              out << kept.element if @join.kind == :semi
            elsif kept.generation != generation && @join.together?(kept.element, element)
              kept.matched = met = true
              out << @join.make(kept.element, element)
            end
          end
          meet(@right_index + at) if met && @met
        end
        @right_index += elements.size
      end

      def end_chunk(out)
        if @join.outer[0]
          @chunk.each_entry { |kept| out << @join.alone(0, kept.element) unless kept.matched }
        end
        @chunk = nil
        @step = :chunk
      end

      def rest(out)
        @chunk = nil
        numbers, elements = @met ? @rights.block(@right_block) : nil
        unless elements
          @lefts.clear
          @rights.clear
          return @step = :part
        end
        @right_block += 1
        elements.each_with_index do |element, at|
          out << @join.alone(1, element) unless numbers[at].odd? || met?(@right_index + at)
        end
        @right_index += elements.size
      end

      def meet(index)
        byte = index >> 3
        @met.setbyte(byte, @met.getbyte(byte) | (1 << (index & 7)))
      end

      def met?(index) = @met.getbyte(index >> 3)[index & 7] == 1
    end
  end
end
