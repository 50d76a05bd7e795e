# frozen_string_literal: true

module Kumihimo
  module Operators
    # Pairs [key, elements] at the end of the input, in the order in which keys first came. Over its bound, the elements of the
    # largest partition go to disk; such partitions' groups come last. A group that comes out is an Array in memory, however large.
    class Groups < KeyedOperator
      include AtEnd

      Part = Struct.new(:groups, :held, :shelf)

      def start
        super
        @work = nil
        return @groups = {} unless @options
        @parts = Array.new(Partition::COUNT) { Part.new({}, 0) }
        @held = 0
      end

      def process(element)
        value = @key.call(element)
        return bounded(value, element) if @options
        group = @groups[value]
        group ? group << element : @groups[value] = [element]
      end

      def __drain(out, max)
        return pass(out, max, @groups) unless @options
        unless @work
          @work = @parts.filter_map { |part| [part.shelf, 1] if part.shelf }
          @parts.each { |part| part.shelf && write(part) }
          @ready = {}
          @parts.each { |part| @ready.update(part.groups) unless part.shelf }
        end
        until out.size >= max
          if !@ready.empty?
            pass(out, max, @ready)
          elsif @work.empty?
            return false
          else
            load(*@work.shift)
          end
        end
        true
      end

      private

      def pass(out, max, groups)
        out << groups.shift until groups.empty? || out.size >= max
        !groups.empty?
      end

      def bounded(value, element)
        part = @parts[Partition.of(value)]
        group = part.groups[value]
        group ? group << element : part.groups[value] = [element]
        part.held += 1
        @held += 1
        @budget.see(element)
        return unless @held > @budget.limit
        largest = @parts.max_by(&:held)
        largest.shelf ||= Shelf.new(@spill)
        write(largest)
      end

      def write(part)
        part.groups.each_value { |group| group.each { |element| part.shelf.add(0, element) } }
        part.shelf.flush
        part.groups = {}
        @held -= part.held
        part.held = 0
      end

      def load(shelf, depth)
        if cut?(shelf.count, depth)
          @work.concat(cut(shelf, depth, &@key))
        else
          shelf.each { |_, element| (@ready[@key.call(element)] ||= []) << element }
        end
      end
    end

    # Pairs [key, elements] of an input in which equal keys are together: each when its key has passed.
    class SortedGroups < KeyedOperator
      def start = @group = nil

      def process(element)
        value = @key.call(element)
        if @group && @value.eql?(value)
          @group << element
        else
          before = @group && [@value, @group]
          @value = value
          @group = [element]
          yield before if before
        end
      end

      def finish
        yield [@value, @group] if @group
      end
    end
  end
end
