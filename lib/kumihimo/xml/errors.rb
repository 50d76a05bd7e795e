# frozen_string_literal: true

module Kumihimo
  module XML
    # What goes wrong with a document. What was delivered before stands; every reader of the document gets the same.
    class Error < StandardError
      # Where the document comes from, as the program named it; the place in it, counted from 1; the element, such as
      # "/table/T[17]/price". nil where there is none.
      attr_reader :source, :line, :column, :path

      def initialize(message = nil, source: nil, line: nil, column: nil, path: nil)
        @source = source
        @line = line
        @column = column
        @path = path
        super(message)
      end

      # "houses.xml:12:5: expected ... (in /info/house[3])"
      def self.place(message, source, line, column, path)
        text = +""
        text << source.to_s if source
        text << ":#{line}:#{column}" if line
        text << ": " unless text.empty?
        text << message
        text << " (in #{path})" if path && !path.empty?
        text
      end
    end

    # The document is not well-formed, wrongly encoded, or not what the class says.
    class ParseError < Error; end

    # It is larger than a limit allows.
    class LimitError < ParseError; end

    # A field that must be there isn't.
    class MissingFieldError < Error; end

    # The text of a field is no value of its type.
    class ConversionError < Error
      # The field's name, and the text.
      attr_reader :field, :text

      def initialize(message = nil, field: nil, text: nil, **place)
        @field = field
        @text = text
        super(message, **place)
      end
    end

    # The bytes could not be had: no such file, no connection, a broken one, a time-out, damaged compression.
    class SourceError < Error; end

    # The server answered with an error page.
    class HTTPError < SourceError
      # The number, the words beside it, and the first bytes of the page.
      attr_reader :status, :reason, :body

      def initialize(message = nil, status: nil, reason: nil, body: nil, **place)
        @status = status
        @reason = reason
        @body = body
        super(message, **place)
      end
    end

    class << self
      private

      # Natives raise through these: see crates/core/stream.
      def __failed(kind, message, source, line, column, path, status, reason, body)
        text = Error.place(message, source, line, column, path)
        place = { source: source, line: line, column: column, path: path }
        raise case kind
              when :limit then LimitError.new(text, **place)
              when :missing then MissingFieldError.new(text, **place)
              when :source then SourceError.new(text, **place)
              when :http then HTTPError.new(text, status: status, reason: reason, body: body, **place)
              else ParseError.new(text, **place)
              end
      end

      def __removed(what = nil)
        raise XTree::RemovedError, what ? "#{what} was removed from the tree" : "this part was removed from the tree"
      end
    end
  end
end
