# frozen_string_literal: true

module Psych
  # A text to the events of libyaml, which a handler is told of.
  class Parser
    ANY = 0
    UTF8 = 1
    UTF16LE = 2
    UTF16BE = 3

    # A place in a text, counted from 0; the index counts characters.
    Mark = Struct.new(:index, :line, :column)

    attr_accessor :handler
    attr_writer :external_encoding

    def initialize(handler = Handler.new)
      @handler = handler
      @external_encoding = ANY
      @index = @line = @column = 0
    end

    # Where the last event ended.
    def mark = Mark.new(@wide ? @wide.byteslice(0, @index).length : @index, @line, @column)

    # Raises SyntaxError, whose place is that of what could not be read to its end.
    def parse(yaml, path = yaml.respond_to?(:path) ? yaml.path : nil)
      handler = @handler
      internal = Encoding.default_internal
      internal = nil if internal == Encoding::UTF_8
      text, encoding = text_of(yaml)
      # The native counts bytes, and a mark characters.
      @wide = encoding == UTF8 ? text.dup.force_encoding(Encoding::UTF_8) : text.encode(Encoding::UTF_8) unless text.ascii_only?
      reader = __yaml_open(text, encoding)
      while (events = __yaml_next(reader))
        events.each do |event|
          event.map! { it.is_a?(String) ? it.encode(internal) : it } if internal
          raise SyntaxError.new(path, *event.drop(1)) if event[0] == 0
          kind, line, column, @line, @column, @index, a, b, c, d, e, f = event
          handler.event_location(line, column, @line, @column)
          case kind
          when 6 then handler.scalar(a, b, c, d, e, f)
          when 7 then handler.start_sequence(a, b, c, d)
          when 8 then handler.end_sequence
          when 9 then handler.start_mapping(a, b, c, d)
          when 10 then handler.end_mapping
          when 5 then handler.alias(a)
          when 3 then handler.start_document(a, b, c)
          when 4 then handler.end_document(a)
          when 1 then handler.start_stream(a)
          else handler.end_stream
          end
        end
      end
      self
    end

    private

    # The bytes of a text or stream, and which of the encodings above they are in.
    def text_of(yaml)
      yaml = yaml.read if yaml.respond_to?(:read)
      text = String.try_convert(yaml) or
        raise TypeError, "no implicit conversion of #{yaml.nil? ? "nil" : yaml.class} into String"
      case text.encoding
      when Encoding::UTF_8, Encoding::BINARY, Encoding::US_ASCII then [text, UTF8]
      when Encoding::UTF_16LE then [text, UTF16LE]
      when Encoding::UTF_16BE then [text, UTF16BE]
      else [text.encode(Encoding::UTF_8), UTF8]
      end
    end
  end
end
