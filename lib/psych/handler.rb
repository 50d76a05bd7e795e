# frozen_string_literal: true

module Psych
  # Is told what a parser meets. Each of these does nothing here.
  class Handler
    def event_location(start_line, start_column, end_line, end_column) = nil
    def start_stream(encoding) = nil
    def start_document(version, tag_directives, implicit) = nil
    def end_document(implicit) = nil
    def alias(anchor) = nil
    def scalar(value, anchor, tag, plain, quoted, style) = nil
    def start_sequence(anchor, tag, implicit, style) = nil
    def end_sequence = nil
    def start_mapping(anchor, tag, implicit, style) = nil
    def end_mapping = nil
    def empty = nil
    def end_stream = nil
    def streaming? = false
  end

  # Makes nodes of what it is told.
  class TreeBuilder < Handler
    # The stream, as far as it has been read.
    attr_reader :root

    def initialize
      super
      @open = []
    end

    def event_location(start_line, start_column, end_line, end_column)
      @start_line = start_line
      @start_column = start_column
      @end_line = end_line
      @end_column = end_column
    end

    def start_stream(encoding)
      @root = Nodes::Stream.new(encoding)
      start(@root)
    end

    def end_stream = finish

    def start_document(version, tag_directives, implicit)
      document = Nodes::Document.new(version, tag_directives, implicit)
      @open.last.children << document
      start(document)
    end

    def end_document(implicit)
      document = finish
      document.implicit_end = implicit
      document
    end

    def alias(anchor) = whole(Nodes::Alias.new(anchor))
    def scalar(value, anchor, tag, plain, quoted, style) = whole(Nodes::Scalar.new(value, anchor, tag, plain, quoted, style))

    def start_sequence(anchor, tag, implicit, style)
      node = Nodes::Sequence.new(anchor, tag, implicit, style)
      @open.last.children << node
      start(node)
    end

    def start_mapping(anchor, tag, implicit, style)
      node = Nodes::Mapping.new(anchor, tag, implicit, style)
      @open.last.children << node
      start(node)
    end

    def end_sequence = finish
    def end_mapping = finish

    private

    def start(node)
      node.start_line = @start_line
      node.start_column = @start_column
      @open << node
      node
    end

    def finish
      node = @open.pop
      node.end_line = @end_line
      node.end_column = @end_column
      node
    end

    def whole(node)
      node.start_line = @start_line
      node.start_column = @start_column
      node.end_line = @end_line
      node.end_column = @end_column
      @open.last.children << node
      node
    end
  end

  module Handlers
    # Gives each document when it ends, and keeps none.
    class DocumentStream < TreeBuilder
      def initialize(&block)
        super
        @block = block
      end

      def start_document(version, tag_directives, implicit)
        document = Nodes::Document.new(version, tag_directives, implicit)
        start(document)
      end

      def end_document(implicit) = @block.call(super)
    end
  end
end
