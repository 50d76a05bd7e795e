# frozen_string_literal: true

module Psych
  # What a plain scalar means: YAML 1.1, as CRuby reads it.
  module Scalar
    WORDS = { "yes" => true, "true" => true, "on" => true, "no" => false, "false" => false, "off" => false, "null" => nil }.freeze
    INTEGER = /\A(?:[-+]?0[0-7_,]+|[-+]?0b[01_,]+|[-+]?(?:0|[1-9](?:[0-9]|,[0-9]|_[0-9])*)|[-+]?0x[0-9a-fA-F_,]+)\z/
    FLOAT = /\A[-+]?(?:[0-9][0-9_,]*)?\.[0-9]*(?:[eE][+-][0-9]+)?\z/
    DATE = /\A\d{4}-(?:1[012]|0\d|\d)-(?:[12]\d|3[01]|0\d|\d)\z/
    TIME = /\A-?\d{4}-\d{1,2}-\d{1,2}(?:[Tt]|\s+)\d{1,2}:\d\d:\d\d(?:\.\d*)?(?:\s*(?:Z|[-+]\d{1,2}:?(?:\d\d)?))?\s*\z/
    # Parts of sixty: hours and minutes, and seconds perhaps.
    SIXTIES = /\A[-+]?[0-9][0-9_]*(?::[0-5]?[0-9]){1,2}(\.[0-9_]*)?\z/
    private_constant :WORDS, :INTEGER, :FLOAT, :DATE, :TIME, :SIXTIES

    module_function

    # Value of a plain scalar; `loader` answers for symbols, dates and times.
    def value(s, loader = nil)
      case s.getbyte(0)
      when nil then nil
      when 48..57, 43, 45, 46 then number(s, loader) # digits, signs and the point
      when 58 then symbol(s, loader)
      when 126 then s == "~" ? nil : s
      when 70, 78, 79, 84, 89, 102, 110, 111, 116, 121 then s.bytesize > 5 ? s : WORDS.fetch(s.downcase) { s }
      else s
      end
    end

    def number(s, loader)
      if s.match?(INTEGER) then integer(s)
      elsif s.match?(FLOAT) then s.match?(/\A[-+]?\.\z/) ? s : s.delete(",_").delete_suffix(".").to_f
      elsif s.match?(DATE) then loader ? loader.date(s) : :date
      elsif s.match?(TIME) then loader ? loader.time(s) : :time
      elsif (found = SIXTIES.match(s)) then sixties(s, found[1] ? :to_f : :to_i)
      else
        case s
        when /\A\+?\.inf\z/i then Float::INFINITY
        when /\A-\.inf\z/i then -Float::INFINITY
        when /\A\.nan\z/i then Float::NAN
        else s
        end
      end
    end

    def integer(s)
      Integer(s.delete(",_"))
    rescue ArgumentError
      s.match?(/\A[-+]?0[0-9]+\z/) ? s.to_i : s
    end

    # The first part counts hours, though there are only two.
    def sixties(s, read) = s.split(":").zip([3600, 60, 1]).sum { |part, worth| part.public_send(read) * worth }

    def symbol(s, loader)
      return s if s.bytesize == 1 || s.include?("\n")
      name = s[/\A:(["'])(.*)\1/, 2] || s[1..]
      loader ? loader.symbol(name) : name.to_sym
    end
  end
end
