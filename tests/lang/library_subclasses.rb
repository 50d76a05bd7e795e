# Times and dates of a subclass are its own; a text that is no number is left as it was.
require "date"
require "bigdecimal"

class T2 < Time; end
class D2 < DateTime; end
class D3 < Date; end

p T2.now.class, T2.at(0).class, T2.new(2000).class, T2.utc(2000).class, (T2.at(0) + 1).class, T2.at(0).round.class
p D2.now.class, D2.now(Date::GREGORIAN).start, D2.new.class, D2.parse("2000-01-01").class, (D2.new + 1).class, D2.new.new_offset(0.5).class
p D3.today.class, D3.new.class, D3.parse("2000-01-01").class, (D3.new >> 1).class
p (DateTime.now - D2.now).abs < 1
p Date::GREGORIAN, Date::JULIAN, Date.new(2000).start, D3.new(2000, 1, 1, Date::GREGORIAN).start, Date.new(2000, 1, 1, Date::Infinity.new).start
p Date::Infinity.new == Float::INFINITY, Float::INFINITY == Date::Infinity.new, -Date::Infinity.new <=> -Float::INFINITY, Date::Infinity.new <=> 1.5
p Date.new(1500, 2, 29, Date::JULIAN).gregorian, Date.new(2000, 1, 1, Date::GREGORIAN), Marshal.load(Marshal.dump(Date.new(2000, 1, 1, Date::GREGORIAN))) == Date.new(2000)

["foo", "1x"].each do |text|
  [text.dup, text.dup.freeze].each do |s|
    BigDecimal(s)
  rescue => e
    p e.class, e.message, s.encoding
  end
end
p BigDecimal(" 1.5 ".freeze), BigDecimal("1_000".freeze).to_i
