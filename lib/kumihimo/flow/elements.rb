# frozen_string_literal: true

module Kumihimo
  module Operators
    # Operators that look at one element at a time. Those that are used most have an `each` of their own: a call less.

    # One that goes by a block.
    class BlockOperator < Flow::Operator
      def initialize(input, block)
        super(input)
        @block = block
      end
    end

    class Map < BlockOperator
      def process(element) = yield(@block.call(element))

      def each
        return to_enum(:each) unless block_given?
        block = @block
        @__input.each { |element| yield block.call(element) }
        self
      end
    end

    # The elements of which the block says what is `wanted`.
    class Select < BlockOperator
      def initialize(input, block, wanted = true)
        super(input, block)
        @yes = wanted
        @no = !wanted
      end

      def process(element)
        yield element if @block.call(element) ? @yes : @no
      end

      def each
        return to_enum(:each) unless block_given?
        block = @block
        yes = @yes
        no = @no
        @__input.each { |element| yield element if block.call(element) ? yes : no }
        self
      end
    end

    class Reject < Select
      def initialize(input, block) = super(input, block, false)
    end

    class FilterMap < BlockOperator
      def process(element)
        result = @block.call(element)
        yield result if result
      end

      def each(&block)
        return to_enum(:each) unless block
        @__input.each { |element| process(element, &block) }
        self
      end
    end

    class FlatMap < FilterMap
      def process(element, &)
        results = @block.call(element)
        if results.is_a?(Flow) || Array === results
          results.each(&)
        elsif results.respond_to?(:to_ary)
          results.to_ary.each(&)
        else
          yield results
        end
      end
    end

    # The inner lists stay lazy.
    class ListMap < FilterMap
      def initialize(input, list, block)
        super(input, block)
        @list = list
      end

      def process(element)
        block = @block
        yield Flow.from(@list.call(element)).map { |nested| block.call(nested, element) }
      end

      # A block that wants one argument is given the nested element, a lambda too.
      def start
        return unless @block.lambda? && @block.arity == 1
        one = @block
        @block = ->(nested, _outer) { one.call(nested) }
      end

      def each(&block)
        return to_enum(:each) unless block
        run = __reading
        @__input.each { |element| run.process(element, &block) }
        self
      end
    end

    class Take < Flow::Operator
      def initialize(input, count)
        super(input)
        @count = Flow.size(count, "take")
      end

      def start = @left = @count
      def full? = @left <= 0

      def process(element)
        @left -= 1
        yield element
      end
    end

    class TakeWhile < BlockOperator
      def start = @over = false
      def full? = @over

      def process(element)
        @block.call(element) ? yield(element) : @over = true
      end

      def each
        return to_enum(:each) unless block_given?
        block = @block
        @__input.each do |element|
          break unless block.call(element)
          yield element
        end
        self
      end
    end

    class Drop < Flow::Operator
      def initialize(input, count)
        super(input)
        @count = Flow.size(count, "drop")
      end

      def start = @left = @count

      def process(element)
        @left.positive? ? @left -= 1 : yield(element)
      end
    end

    class DropWhile < BlockOperator
      def start = @dropping = true

      def process(element)
        @dropping &&= @block.call(element)
        yield element unless @dropping
      end
    end

    class WithIndex < Flow::Operator
      def initialize(input, offset)
        super(input)
        @offset = offset || 0
      end

      def start = @index = @offset - 1
      def process(element) = yield([element, @index += 1])
    end
  end
end
