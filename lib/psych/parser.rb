# frozen_string_literal: true

module Psych
  # A text to the events of libyaml, which a handler is told of.
  class Parser
    ANY = 0
    UTF8 = 1
    UTF16LE = 2
    UTF16BE = 3

    # A place: characters so far are not counted.
    Mark = Struct.new(:index, :line, :column)

    attr_accessor :handler
    attr_writer :external_encoding

    def initialize(handler = Handler.new)
      @handler = handler
      @external_encoding = ANY
      @line = @column = 0
    end

    # Where the last event ended.
    def mark = Mark.new(0, @line, @column)

    # Raises SyntaxError, whose place is that of what could not be read to its end.
    def parse(yaml, path = yaml.respond_to?(:path) ? yaml.path : nil)
      handler = @handler
      reader = __yaml_open(Psych.__text(yaml))
      while (events = __yaml_next(reader))
        events.each do |event|
          kind, line, column, @line, @column, a, b, c, d, e, f = event
          raise SyntaxError.new(path, line, column, @line, @column, a) if kind == 0
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
  end
end
