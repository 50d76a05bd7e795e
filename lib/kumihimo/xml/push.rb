# frozen_string_literal: true

module Kumihimo
  module XML
    # The other way round: whoever has bytes pushes them, and gets the elements that they complete, at once.
    #
    #   push = Kumihimo::XML::Push.new("/table/T", Row) { |row| ... }
    #   push << bytes
    #   push.finish
    class Push
      # The elements of a class without lists that a path names.
      def initialize(path, klass, **options, &block)
        raise TypeError, "#{klass.inspect} is no class of trees: give a subclass of Kumihimo::XTree" unless klass.is_a?(Class) && klass < XTree
        raise ArgumentError, "no block given: it gets the elements" unless block
        @__core = __xpush(klass.__schema(path), Source.check(options))
        @block = block
      end

      # Calls the block with each element that these bytes complete.
      def <<(bytes)
        raise TypeError, "nil is no text: call finish where the document ends" if bytes.nil?
        __xpush_feed(@__core, bytes)
        drain
      end

      # The document ends here; raises when it isn't complete.
      def finish
        __xpush_feed(@__core, nil)
        drain
      end

      private

      def drain
        core = @__core
        block = @block
        while (row = __xpush_next(core))
          block.call(row)
        end
        self
      end
    end
  end
end
