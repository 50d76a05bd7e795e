# frozen_string_literal: true

module Kumihimo
  module Operators
    # The beginning of a flow that is not one itself.
    class Source
      include Flow

      def initialize(input)
        unless input.respond_to?(:each) || Source.queue?(input)
          raise TypeError, "a flow is made of something with each (or a queue), not of #{input.class}"
        end
        @input = input
      end

      # Things that wait for others to push: read until they are closed and empty.
      def self.queue?(input) = input.respond_to?(:pop) && input.respond_to?(:closed?) && input.respond_to?(:empty?) && !input.respond_to?(:each)

      def each(&block)
        return to_enum(:each) unless block
        if Array === @input
          @input.each(&block)
        elsif Source.queue?(@input)
          read_queue(&block)
        elsif @input.respond_to?(:each_entry)
          @input.each_entry(&block)
        else
          @input.each(&block)
        end
        self
      end

      def flow_reader
        return @input.flow_reader if @input.respond_to?(:flow_reader)
        case @input
        when Array then ArrayReader.new(@input)
        when Hash, Struct, Set then ArrayReader.new(@input.each_entry.to_a)
        when Range then integers?(@input) ? RangeReader.new(@input) : Feeder.new(self)
        else Feeder.new(self)
        end
      end

      def size = @input.respond_to?(:size) && !Source.queue?(@input) && !@input.is_a?(IO) ? @input.size : nil
      def inspect = "#<#{self.class} #{@input.class}>"

      private

      # No `loop`, which would take a StopIteration of the block's for its end.
      def read_queue(&block)
        if @input.is_a?(Thread::Queue) && @input.method(:pop).owner == Thread::Queue
          return read_own_queue(&block)
        end
        # Of a queue of the program's own a nil cannot be told from its end when nothing is left.
        while true
          element = @input.pop
          break if element.nil? && @input.closed? && @input.empty?
          yield element
        end
      end

      # As pop, which gives nil at the end too.
      def read_own_queue
        while true
          begin
            element = __port_take(@input)
          rescue Ractor::ClosedError # what a scheduler of fibers is told
            break
          end
          break if __undef?(element)
          yield element
        end
      end

      def integers?(range)
        range.begin.is_a?(Integer) && (range.end.nil? || range.end.is_a?(Integer))
      end
    end

    # Elements that are there already.
    class ArrayReader
      include Flow::Reader

      def initialize(array)
        @array = array
        @at = 0
      end

      def take_batch(max)
        batch = @array[@at, max]
        return nil if batch.nil? || batch.empty?
        @at += batch.size
        batch
      end

      def wait_handle = nil

      def close
        @array = []
      end
    end

    # Integers of a range, which may have no end.
    class RangeReader
      include Flow::Reader

      def initialize(range)
        @at = range.begin
        @last = range.end && (range.exclude_end? ? range.end - 1 : range.end)
      end

      def take_batch(max)
        last = @at + max - 1
        last = @last if @last && @last < last
        return nil if last < @at
        batch = (@at..last).to_a
        @at = last + 1
        batch
      end

      def wait_handle = nil

      def close
        @last = @at - 1
      end
    end
  end
end
