# frozen_string_literal: true

module Kumihimo
  module Operators
    # Consecutive elements. `from` and `to` are the bounds of the keys, `to` excluded, for windows by key; the first and last
    # key for sessions; else the index of the first element and of the first one after it.
    Window = Struct.new(:from, :to, :rows) do
      include Enumerable
      def each(&) = rows.each(&)
      def size = rows.size
      def to_a = rows.dup
      alias_method :entries, :to_a
      # Not Struct's, of the three members.
      def length = rows.size
      def select(&) = rows.select(&)
      def filter(&) = rows.filter(&)
    end

    # The operators behind `Flow#window`.
    module Windows
      # In how many windows an element may lie: each holds it.
      MOST = 100_000

      def self.build(input, size, step, gap, key, lateness, block)
        if block
          raise ArgumentError, "window takes a size, a gap or a block, one of them" if size || gap || step
          return ByBlock.new(input, block)
        end
        raise ArgumentError, "window takes a size, a gap or a block, one of them" if (size.nil? == gap.nil?)
        number("lateness", lateness)
        raise ArgumentError, "lateness: is for windows of a size by key" unless lateness.zero? || (size && key)
        if gap
          raise ArgumentError, "a session window needs by:" unless key
          raise ArgumentError, "a session window takes no step:" if step
          return Sessions.new(input, number("gap", gap), key)
        end
        step ||= size
        raise ArgumentError, "size and step of a window must be positive" unless number("size", size).positive? && number("step", step).positive?
        if key
          raise ArgumentError, "step of a window is too small: each element would lie in #{(size / step).ceil} windows" if size / step > MOST
          return ByKey.new(input, size, step, key, lateness)
        end
        raise ArgumentError, "a window without by: has an Integer size and step" unless size.is_a?(Integer) && step.is_a?(Integer)
        ByCount.new(input, size, step)
      end

      def self.number(what, number)
        return number if finite?(number) && !number.negative?
        raise ArgumentError, "#{what} of a window is a number from 0, not #{number.inspect}"
      end
      private_class_method :number

      # Whether it is a number that others lie before and after.
      def self.finite?(number) = number.is_a?(Numeric) && number.real? && number.finite?

      # A key as a number: seconds of a Time, days of a Date.
      def self.number_of(key)
        return key if Integer === key || finite?(key)
        return key.to_r if Time === key
        raise ArgumentError, "a window's key is a finite number, a Time or a Date, not #{key.inspect}" unless key.respond_to?(:ajd)
        key.respond_to?(:hour) ? key.ajd : key.jd
      end

      # The key of the same kind as `like` for a number.
      def self.key(number, like)
        case like
        when Numeric then number
        when Time then like.utc? ? Time.at(number).utc : Time.at(number, in: like.utc_offset)
        else like + (number - Windows.number_of(like))
        end
      end

      # Every `step` elements the last `size`. What is left at the end makes a last, shorter window unless they overlap.
      class ByCount < Flow::Operator
        def initialize(input, size, step)
          super(input)
          @size = size
          @step = step
        end

        def start
          @rows = []
          @skip = 0
          @index = 0
        end

        def process(element)
          @index += 1
          return @skip -= 1 if @skip.positive?
          @rows << element
          return if @rows.size < @size
          full = Window.new(@index - @size, @index, @rows)
          @rows = @step < @size ? @rows.drop(@step) : []
          @skip = @step - @size if @step > @size
          yield full
        end

        def finish
          yield Window.new(@index - @rows.size, @index, @rows) unless @rows.empty? || @step < @size
        end
      end

      # A window comes out when an element shows that it is complete.
      class ByKey < Flow::Operator
        def initialize(input, size, step, key, lateness)
          super(input)
          @size = size
          @step = step
          @key = key
          @lateness = lateness
        end

        def start
          @open = {} # by number: the window from number * step
          @newest = @next = nil
        end

        def process(element)
          key = @key.call(element)
          at = Windows.number_of(key)
          last = (at / @step).floor
          first = ((at - @size) / @step).floor + 1
          if @newest && first * @step + @size <= @newest - @lateness
            raise Flow::UnsortedError, "an element of #{key} came when #{Windows.key(@newest, key)} had been seen and its window was over; allow it with lateness:"
          end
          first.upto(last) do |number|
            window = @open[number] ||= begin
              from = number * @step
              Window.new(Windows.key(from, key), Windows.key(from + @size, key), [])
            end
            window.rows << element
            over = number * @step + @size
            @next = over if @next.nil? || over < @next
          end
          return unless @newest.nil? || at > @newest
          @newest = at
          close { |window| yield window } if @next && @next <= @newest - @lateness
        end

        def finish
          @open.sort.each { |_, window| yield window }
        end

        private

        def close
          over, open = @open.partition { |number, _| number * @step + @size <= @newest - @lateness }
          @open = open.to_h
          @next = @open.keys.min&.then { |number| number * @step + @size }
          over.sort.each { |_, window| yield window }
        end
      end

      class Sessions < Flow::Operator
        def initialize(input, gap, key)
          super(input)
          @gap = gap
          @key = key
        end

        def start = @window = nil

        def process(element)
          key = @key.call(element)
          at = Windows.number_of(key)
          if @window
            raise Flow::UnsortedError, "an element of #{key} came after one of #{@window.to}" if at < @last
            if at - @last <= @gap
              @window.rows << element
              @window.to = key
              @last = at
              return
            end
          end
          before = @window
          @window = Window.new(key, key, [element])
          @last = at
          yield before if before
        end

        def finish
          yield @window if @window
        end
      end

      class ByBlock < BlockOperator
        def start
          @rows = []
          @index = 0
        end

        def process(element)
          over = !@rows.empty? && @block.call(@rows.last, element) ? @rows : nil
          @rows = [] if over
          @rows << element
          @index += 1
          yield Window.new(@index - 1 - over.size, @index - 1, over) if over
        end

        def finish
          yield Window.new(@index - @rows.size, @index, @rows) unless @rows.empty?
        end
      end
    end
  end
end
