# frozen_string_literal: true

module Kumihimo
  module XML
    # What trees need that is no method of theirs: schemas, conversion of values, paths, dumps.
    module Build
      @lock = Monitor.new

      class << self
        def synchronize(&) = @lock.synchronize(&)

        # Natives get the classes in the order in which they are found, the root first.
        def schema(root, path)
          raise ArgumentError, "XTree has no fields: give a subclass" if root.equal?(XTree)
          classes = { root => 0 }
          queue = [root]
          while (klass = queue.shift)
            klass.fields.each do |field|
              nested = field.nested
              next if nested.nil? || classes.key?(nested)
              classes[nested] = classes.size
              queue << nested
            end
          end
          rows = classes.keys.map do |klass|
            klass.__close
            [klass, klass.name || "XTree", tag(klass, klass.element), klass.fields.map { |field| field.to_schema(classes) }]
          end
          steps = path && path_tags(root, path)
          __xschema(rows, steps)
        end

        def convert(field, text, tree, slot)
          field.converter.call(text)
        rescue Types::Unfit
          refuse(field, text, tree, slot, nil)
        rescue ConversionError
          raise
        rescue StandardError => e
          refuse(field, text, tree, slot, e)
        end

        # Also called by natives.
        def refuse(field, text, tree, slot, cause)
          line, column, = __xtree_where(tree)
          source = __xtree_source(tree)
          path = "#{self.path(tree)}/#{'@' if field.place == :attribute}#{local(field.tag)}"
          error = ConversionError.new(Error.place(wording(field, text, cause), source, line, column, path),
                                      field: field.name, text: text, source: source, line: line, column: column, path: path)
          raise error, cause: cause
        end

        def path(tree)
          line, column, ordinal, way, = __xtree_where(tree)
          return nil unless line && column && way
          way.sub("[]", "[#{ordinal}]")
        end

        # A field as inspect shows it, without reading on: a method of the class's own might.
        def show(tree, field, slot)
          value = __xtree_peek(tree, slot)
          case value
          when :pending then "…"
          when :removed then "(removed)"
          when :list then "[…]"
          when :ready
            begin
              field.read(tree).inspect
            rescue XML::Error, XTree::RemovedError
              "#{__xtree_text(tree, slot).inspect} (not converted)"
            end
          else "…"
          end
        end

        # An element that is not whole is dumped in parts, for which this waits.
        def dump(tree)
          return Marshal.dump([tree.class.fields.map(&:name), Parts.of(tree), []]) unless __xtree_whole(tree)
          removed = tree.class.fields.each_index.select { |slot| __xtree_peek(tree, slot) == :removed }
          Marshal.dump([tree.class.fields.map(&:name), __xtree_pack(tree), removed])
        end

        def load(klass, dump)
          # A true comes with each text: it says that it is in UTF-8.
          names, row, removed = Marshal.load(dump, ->(part) { [Array, String, Symbol, Integer, TrueClass].include?(part.class) ? part : raise(TypeError, "no dump of a tree") })
          fits = names.is_a?(Array) && names == klass.fields.map(&:name) && (row.is_a?(String) || row.is_a?(Array)) && removed.is_a?(Array)
          raise TypeError, "the dump of a #{klass} has other fields than the class now" unless fits
          return __xtree_revive(klass.__schema, row) if row.is_a?(Array)
          tree = __xtree_unpack(klass.__schema, klass, row)
          removed.each { |slot| __xtree_drop(tree, slot) }
          tree
        end

        def pack(klass, trees)
          return (trees.map { |tree| Parts.of(tree) } if trees.all? { |tree| tree.instance_of?(klass) }) unless klass.__value?
          slots = klass.fields.size
          trees.map do |tree|
            return nil unless tree.instance_of?(klass) && __xtree_whole(tree)
            slot = 0
            while slot < slots
              return nil if __xtree_peek(tree, slot) == :removed
              slot += 1
            end
            __xtree_pack(tree)
          end
        end

        def unpack(klass, rows)
          schema = klass.__schema
          return rows.map { |items| __xtree_revive(schema, items) } unless klass.__value?
          rows.map { |row| __xtree_unpack(schema, klass, row) }
        end

        # A name as documents have it; nil when it cannot be written in UTF-8.
        def utf8(name)
          name = name.to_s
          name = name.encoding == Encoding::BINARY ? name.dup.force_encoding(Encoding::UTF_8) : name.encode(Encoding::UTF_8)
          -name if name.valid_encoding?
        rescue EncodingError
          nil
        end

        def tag(klass, name)
          return name if name.nil? || name.start_with?("{")
          if name.include?(":")
            prefix, local = name.split(":", 2)
            uri = klass.__namespaces[prefix.to_sym] or raise ArgumentError, "#{klass}: no namespace is given for the prefix '#{prefix}'"
            return "{#{uri}}#{local}"
          end
          uri = klass.__namespaces[nil]
          uri && name != "*" ? "{#{uri}}#{name}" : name
        end

        # Of a list of texts of that tree: line, column and path of the element that the list is of.
        def place(tree)
          line, column, = __xtree_where(tree)
          [line, column, path(tree)]
        end

        def refuse_element(field, text, number, source, place, cause)
          line, column, path = place
          path = "#{path}/#{local(field.tag)}[#{number}]" if path
          error = ConversionError.new(Error.place(wording(field, text, cause), source, line, column, path),
                                      field: field.name, text: text, source: source, line: line, column: column, path: path)
          raise error, cause: cause
        end

        private

        # Steps of a path with prefixes and the class's namespace put in.
        def path_tags(klass, path)
          raise TypeError, "a path such as \"/table/row\" is a String, not #{path.inspect}" unless path.is_a?(String)
          given = path
          path = utf8(given) or raise ArgumentError, "the path #{given.inspect} names nothing, it is not valid UTF-8"
          path.gsub(/\{[^}]*\}[^\/]+|[^\/]+/) { |step| tag(klass, step) }
        end

        def wording(field, text, cause)
          quoted = text.size > 40 ? "#{text[0, 40]}..." : text
          told = cause ? "#{cause.message} (#{cause.class})" : "expected #{field.converter.expected}"
          "field #{field.name}: #{told}, found #{quoted.inspect}"
        end

        def local(tag) = tag[/[^}]*\z/]
      end
    end

    # Elements of a list of texts: what they become, and what to say when one is no value of the type.
    class Build::Texts
      def initialize(field, source, place)
        @field = field
        @source = source
        @place = place
      end

      def type = @field.type

      # The `number`th of the list, from 1. `cursor` has given `behind` others of its batch after it.
      def convert(text, number, cursor, behind = 0)
        @field.converter.call(text)
      rescue Types::Unfit
        Build.refuse_element(@field, text, number, @source, place(cursor, behind), nil)
      rescue ConversionError
        raise
      rescue StandardError => e
        Build.refuse_element(@field, text, number, @source, place(cursor, behind), e)
      end

      private

      # Line and column of the element, if they are known, with the list's path.
      def place(cursor, behind)
        line, column = __xcursor_place(cursor, behind)
        line ? [line, column, @place[2]] : @place
      end
    end

    class << self
      private

      # Natives: the text of a field is no value of its type.
      def __refused(tree, slot)
        field = tree.class.fields[slot]
        Build.refuse(field, __xtree_text(tree, slot), tree, slot, nil)
      end
    end
  end
end
