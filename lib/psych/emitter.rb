# frozen_string_literal: true

module Psych
  class Handler
    # How a text is to look.
    class DumperOptions
      attr_accessor :line_width, :indentation, :canonical

      def initialize
        @line_width = 0
        @indentation = 2
        @canonical = false
      end
    end
  end

  # Writes what it is told of to a stream, as libyaml does. Raises RuntimeError where that makes no text.
  class Emitter < Handler
    attr_accessor :canonical, :indentation, :line_width

    def initialize(io, options = DumperOptions.new)
      @io = io
      @canonical = options.canonical
      @indentation = options.indentation
      @line_width = options.line_width
      @events = 0
    end

    def start_stream(encoding) = put(1, encoding)
    def end_stream = put(2)

    def start_document(version, tag_directives, implicit)
      put(3, version, tag_directives.map { |pair| pair.map { |s| utf8(s) } }, implicit)
    end

    def end_document(implicit) = put(4, implicit)
    def alias(anchor) = put(5, utf8(anchor))
    def scalar(value, anchor, tag, plain, quoted, style) = put(6, utf8(value), utf8(anchor), utf8(tag), plain, quoted, style)
    def start_sequence(anchor, tag, implicit, style) = put(7, utf8(anchor), utf8(tag), implicit, style)
    def end_sequence = put(8)
    def start_mapping(anchor, tag, implicit, style) = put(9, utf8(anchor), utf8(tag), implicit, style)
    def end_mapping = put(10)

    private

    def put(kind, a = nil, b = nil, c = nil, d = nil, e = nil, f = nil)
      @writer ||= __yaml_writer(@canonical, @indentation, @line_width)
      text = __yaml_emit(@writer, @events += 1, kind, a, b, c, d, e, f)
      @io << text if text
      self
    end

    def utf8(s)
      return s if s.nil?
      raise TypeError, "wrong argument type #{s.class} (expected String)" unless s.is_a?(String)
      case s.encoding
      when Encoding::UTF_8, Encoding::US_ASCII, Encoding::BINARY then s
      else s.encode(Encoding::UTF_8)
      end
    end
  end
end
