# frozen_string_literal: true

module Kumihimo
  module XML
    # How the text of a field becomes a value. A converter answers `kind`, the number under which natives know the type (OTHER:
    # they don't), `expected` for messages, and `call(text)`, which gives the value, or raises what Types.refusal? knows.
    #
    # Numbers, dates and truth values are written as XML Schema says, with white space around them allowed.
    module Types
      STRING, INTEGER, FLOAT, SYMBOL, BOOLEAN, DECIMAL, CLASS, LIST, OTHER = 0, 1, 2, 3, 4, 5, 6, 7, 8
      DATE, DATETIME = 9, 10

      # Raised inside this file: the text is no value of the type.
      class Unfit < StandardError; end

      class Plain
        attr_reader :kind, :type, :expected

        def initialize(kind, type, expected)
          @kind = kind
          @type = type
          @expected = expected
          freeze
        end

        def call(text)
          value = __xdecode(@kind, text)
          raise Unfit, @expected if __undef?(value)
          value
        end
      end

      class DateType
        def kind = DATE
        def type = ::Date
        def expected = "a date such as 2024-02-29"

        def call(text)
          day = __xdecode(DATE, text)
          raise Unfit, expected if __undef?(day)
          return ::Date.civil(*day) if day.is_a?(Array)
          # What Date.jd does with a number of days that needs no checks.
          date = ::Date.allocate
          date.__send__(:__set_parts, day, 0, 0, ::Date::ITALY)
          date
        end
      end

      class TimeType
        attr_reader :type

        def initialize(type)
          @type = type
          freeze
        end

        def kind = OTHER
        def expected = "a date and time such as 2024-02-29T12:30:00Z"

        def call(text)
          parts = __xdecode(DATETIME, text)
          raise Unfit, expected if __undef?(parts)
          time(*parts).freeze
        end

        private

        def time(year, month, day, hour, minute, second, nanos, zone)
          second = nanos.zero? ? second : second + Rational(nanos, 1_000_000_000)
          if @type != ::Time
            return @type.new(year, month, day, hour, minute, second, zone ? Rational(zone, 1440) : 0)
          end
          return ::Time.new(year, month, day, hour, minute, second) unless zone
          time = ::Time.utc(year, month, day, hour, minute, second) - zone * 60
          zone.zero? ? time : time.localtime(zone * 60)
        end
      end

      # A class or object of the program's: anything with `call(text)` or `parse(text)`.
      class Custom
        attr_reader :type

        def initialize(type, method)
          @type = type
          @method = method
          freeze
        end

        def kind = OTHER
        def expected = "what #{@type.inspect} takes"
        def call(text) = @method == :call ? @type.call(text) : @type.parse(text)
      end

      # A type, and then a block.
      class Then
        attr_reader :type

        def initialize(first, block)
          @first = first
          @type = first.type
          @block = block
          freeze
        end

        def kind = OTHER
        def expected = @first.expected
        def call(text) = @block.call(@first.kind == STRING ? text : @first.call(text))
      end

      PLAIN = {
        String => Plain.new(STRING, String, "a text"),
        Integer => Plain.new(INTEGER, Integer, "an integer"),
        Float => Plain.new(FLOAT, Float, "a number"),
        Symbol => Plain.new(SYMBOL, Symbol, "a text"),
        Rational => Plain.new(DECIMAL, Rational, "a decimal number"),
        TrueClass => Plain.new(BOOLEAN, TrueClass, "true, false, 1 or 0")
      }.freeze
      NAMES = {
        string: String, integer: Integer, float: Float, symbol: Symbol, decimal: Rational, boolean: TrueClass, date: :Date, time: Time
      }.freeze
      private_constant :PLAIN, :NAMES

      module_function

      # The converter for a type as a class declares it; nil when it is none.
      def converter(type)
        if type.is_a?(Symbol)
          type = NAMES.fetch(type) { return nil }
          if type == :Date
            require "date"
            type = ::Date
          end
        end
        plain = PLAIN[type]
        return plain if plain
        return TimeType.new(Time) if type.equal?(Time)
        if type.is_a?(Module)
          case type.name
          when "Date"
            __xml_date(type)
            return DateType.new.freeze
          when "DateTime" then return TimeType.new(type)
          end
        end
        return Custom.new(type, :call) if type.respond_to?(:call)
        Custom.new(type, :parse) if type.respond_to?(:parse)
      end
    end
  end
end
