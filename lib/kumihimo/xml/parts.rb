# frozen_string_literal: true

module Kumihimo
  module XML
    # An element with lists as a flat Array of numbers and Strings, and so all that is below it: what flows put on disk, and
    # Marshal. `__xtree_revive` makes an element of its own of that.
    module Parts
      OPEN = 0
      WHOLE = 1
      TEXT = 2
      CLOSE = 3
      private_constant :OPEN, :WHOLE, :TEXT, :CLOSE

      class << self
        # Waits for all of the element. What was removed of it, or is read by a reader that cuts, is not there to be written.
        def of(tree)
          items = []
          element(tree, 0, items)
          items
        end

        private

        def element(tree, slot, items)
          if __xtree_whole(tree)
            klass = tree.class
            klass.fields.each_index { |i| gone(klass.fields[i]) if __xtree_peek(tree, i) == :removed }
            items << WHOLE << slot << __xtree_pack(tree)
            return
          end
          __xtree_where(tree) # has arrived after that
          items << OPEN << slot << __xtree_start(tree)
          tree.class.fields.each_with_index { |field, i| part(tree, field, i, items) }
          items << CLOSE << 0 << ""
        end

        def part(tree, field, slot, items)
          gone(field) if __xtree_peek(tree, slot) == :removed
          if field.list?
            elements(field.read(tree), field, slot, items)
          elsif field.nested
            value = field.read(tree)
            element(value, slot, items) if value
          elsif (text = __xtree_text(tree, slot))
            items << TEXT << slot << text
          end
        end

        def elements(list, field, slot, items)
          gone(field) if list.cut?
          cursor = __xcursor(list.__core, false, field.nested)
          while (part = __xcursor_next(cursor))
            field.nested ? element(part, slot, items) : items << TEXT << slot << part
          end
        ensure
          __xcursor_close(cursor) if cursor
        end

        def gone(field)
          raise TypeError, "can't write an element whose #{field.name} was removed"
        end
      end
    end
  end
end
