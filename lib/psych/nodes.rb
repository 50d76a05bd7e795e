# frozen_string_literal: true

module Psych
  # A document as a tree: what a text says, before it means anything. Lines and columns count from 0.
  module Nodes
    class Node
      include Enumerable

      attr_reader :children, :tag
      attr_accessor :start_line, :start_column, :end_line, :end_column

      def initialize = @children = []

      # Every node below this one and itself, children first.
      def each(&block)
        return to_enum(:each) unless block
        rest = [[self, 0]]
        until rest.empty?
          node, at = rest.last
          children = node.children
          if children && at < children.size
            rest.last[1] = at + 1
            rest << [children[at], 0]
          else
            rest.pop
            yield node
          end
        end
        self
      end

      def to_ruby(symbolize_names: false, freeze: false, strict_integer: false)
        Loader.new(safe: false, aliases: true, symbolize_names: symbolize_names, freeze: freeze).load(self)
      end
      alias transform to_ruby

      # The text of a stream; on `io`, which is the answer then, if there is one. Raises RuntimeError for a part of a stream.
      def yaml(io = nil, options = {})
        out = io || +""
        emitter = Emitter.new(out)
        emitter.canonical = options[:canonical] || false
        emitter.indentation = options[:indentation] || 2
        emitter.line_width = options[:line_width] || 0
        emit(emitter)
        out
      end
      alias to_yaml yaml

      def alias? = false
      def document? = false
      def mapping? = false
      def scalar? = false
      def sequence? = false
      def stream? = false
    end

    class Alias < Node
      attr_accessor :anchor

      def initialize(anchor) = @anchor = anchor

      def alias? = true
      def emit(handler) = handler.alias(@anchor)
    end

    class Scalar < Node
      ANY = 0
      PLAIN = 1
      SINGLE_QUOTED = 2
      DOUBLE_QUOTED = 3
      LITERAL = 4
      FOLDED = 5

      attr_accessor :value, :anchor, :plain, :quoted, :style
      attr_writer :tag

      def initialize(value, anchor = nil, tag = nil, plain = true, quoted = false, style = ANY)
        @value = value
        @anchor = anchor
        @tag = tag
        @plain = plain
        @quoted = quoted
        @style = style
      end

      def scalar? = true
      def emit(handler) = handler.scalar(@value, @anchor, @tag, @plain, @quoted, @style)
    end

    # What sequences and mappings have in common.
    class Collection < Node
      ANY = 0
      BLOCK = 1
      FLOW = 2

      attr_accessor :anchor, :implicit, :style
      attr_writer :tag

      def initialize(anchor = nil, tag = nil, implicit = true, style = BLOCK)
        @children = []
        @anchor = anchor
        @tag = tag
        @implicit = implicit
        @style = style
      end
    end
    private_constant :Collection

    class Sequence < Collection
      def sequence? = true

      def emit(handler)
        handler.start_sequence(@anchor, @tag, @implicit, @style)
        @children.each { |node| node.emit(handler) }
        handler.end_sequence
      end
    end

    # Children are keys and values in turns.
    class Mapping < Collection
      def mapping? = true

      def emit(handler)
        handler.start_mapping(@anchor, @tag, @implicit, @style)
        @children.each { |node| node.emit(handler) }
        handler.end_mapping
      end
    end

    class Document < Node
      attr_accessor :version, :tag_directives, :implicit, :implicit_end

      def initialize(version = [], tag_directives = [], implicit = false)
        @children = []
        @version = version
        @tag_directives = tag_directives
        @implicit = implicit
        @implicit_end = true
      end

      def root = @children.first
      def document? = true

      def emit(handler)
        handler.start_document(@version, @tag_directives, @implicit)
        @children.each { |node| node.emit(handler) }
        handler.end_document(@implicit_end)
      end
    end

    class Stream < Node
      ANY = 0
      UTF8 = 1
      UTF16LE = 2
      UTF16BE = 3

      attr_accessor :encoding

      def initialize(encoding = UTF8)
        @children = []
        @encoding = encoding
      end

      def stream? = true

      def emit(handler)
        handler.start_stream(@encoding)
        @children.each { |node| node.emit(handler) }
        handler.end_stream
      end
    end
  end
end
