# frozen_string_literal: true

module Psych
  # What a plain scalar means.
  module Scalar
    INTEGER = /\A(?:[-+]?0[0-7_,]+|[-+]?0b[01_]+|[-+]?(?:0|[1-9](?:[0-9]|,[0-9]|_[0-9])*)|[-+]?0x[0-9a-fA-F_]+)\z/
    FLOAT = /\A(?:[-+]?(?:[0-9][0-9_,]*)?\.[0-9]*(?:[eE][+-][0-9]+)?(?:#.*)?|[-+]?[1-9][0-9_]*(?:\.[0-9_]*)?[eE][-+]?[0-9]+)\z/
    TIME = /\A-?\d{4}-\d{1,2}-\d{1,2}(?:[Tt]|\s+)\d{1,2}:\d\d:\d\d(?:\.\d*)?(?:\s*(?:Z|[-+]\d{1,2}:?(?:\d\d)?))?\s*\z/
    BOOLS = { "yes" => true, "true" => true, "on" => true, "no" => false, "false" => false, "off" => false }.freeze
    private_constant :INTEGER, :FLOAT, :TIME, :BOOLS

    module_function

    # Value of a plain scalar; `loader` answers for symbols and dates.
    def value(s, loader = nil)
      return nil if s.empty? || s == "~" || s.match?(/\Anull\z/i)
      return s if s.length > 5 && s.include?("\n")
      case s
      when /\A(?:yes|true|on|no|false|off)\z/i then BOOLS[s.downcase]
      when INTEGER then integer(s)
      when /\A\.inf\z/i, /\A\+\.inf\z/i then Float::INFINITY
      when /\A-\.inf\z/i then -Float::INFINITY
      when /\A\.nan\z/i then Float::NAN
      when /\A:./
        name = s.match?(/\A:"(?:[^"\\]|\\.)*"\z/) || s.match?(/\A:'(?:[^']|'')*'\z/) ? s[2..-2] : s[1..]
        loader ? loader.symbol(name) : name.to_sym
      when TIME then loader ? loader.time(s) : :time
      when /\A\d{4}-(?:1[012]|0\d|\d)-(?:[12]\d|3[01]|0\d|\d)\z/ then loader ? loader.date(s) : :date
      when /\A[-+]?[0-9][0-9_]*(?::[0-5]?[0-9]){1,2}\z/
        sign = s.start_with?("-") ? -1 : 1
        sign * s.delete("_").delete_prefix("-").split(":").inject(0) { |n, part| n * 60 + part.to_i }
      when /\A[-+]?[0-9][0-9_]*(?::[0-5]?[0-9]){1,2}\.[0-9_]*\z/
        s.split(":").inject(0) { |n, part| n * 60 + part.to_f }
      when FLOAT
        s.match?(/\A[-+]?\.(?:#|\z)/) ? s : s.delete(",_").sub(/\.\z/, "").to_f
      else s
      end
    end

    def integer(s)
      t = s.delete(",_")
      Integer(t)
    rescue ArgumentError
      s.match?(/\A[-+]?0[0-9]+\z/) ? s.to_i : s
    end
  end
end
