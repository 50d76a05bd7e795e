# frozen_string_literal: true

class Date
  def strftime(format = "%F")
    format = format.to_str
    pieces = PIECES[format] || __pieces(format)
    out = +""
    pieces.each { |piece| out << (piece.is_a?(String) ? piece : __directive(*piece)) }
    out.force_encoding(format.encoding)
  end

  # Formats that were used, as literal texts and directives: what a directive is as a whole, its flags, width, colons and letter.
  PIECES = {}
  MOST_PIECES = 100
  # Letters of a format that is kept.
  LONGEST = 200
  private_constant :PIECES, :MOST_PIECES, :LONGEST

  def to_s = __iso_date
  def iso8601 = __iso_date
  alias xmlschema iso8601
  def rfc3339 = strftime("%Y-%m-%dT%H:%M:%S%:z")
  def rfc2822 = strftime("%a, %-d %b %Y %T %z")
  alias rfc822 rfc2822
  def asctime = strftime("%a %b %e %H:%M:%S %Y")
  alias ctime asctime

  def httpdate
    utc = @__offset == 0 ? self : to_datetime.new_offset(0)
    utc.strftime("%a, %d %b %Y %T GMT")
  end

  # First Julian days of the Japanese eras, newest first, with their letter and the year before the first.
  ERAS = [[2_458_605, "R", 2018], [2_447_535, "H", 1988], [2_424_875, "S", 1925], [2_419_614, "T", 1911],
          [2_405_160, "M", 1867]].freeze
  private_constant :ERAS

  def jisx0301
    era = ERAS.find { |first, _, _| @__jd >= first }
    return strftime("%Y-%m-%d") unless era
    format("%s%02d", era[1], year - era[2]) + strftime(".%m.%d")
  end

  private

  def __pieces(format)
    pieces = []
    format.scan(/%([-0^#_]*)(\d+)?((?::{1,3}(?=z))?)(?:E(?=[CcXxYy])|O(?=[deHkIlmMSuUVwWy]))?([a-zA-Z%+])|[^%]+|%/) do
      whole, flags, width, colons, letter = $&, $1, $2&.to_i, $3, $4
      raise Errno::ERANGE, "Numerical result out of range" if width && width > 1 << 24
      pieces << (letter ? [whole, flags, width, colons.size, letter].each(&:freeze).freeze : whole.freeze)
    end
    return pieces if format.size > LONGEST
    PIECES.clear if PIECES.size >= MOST_PIECES
    PIECES[format.dup.freeze] = pieces.freeze
  end

  def __iso_date
    year, month, day = __civil_fields
    text = year >= 0 && year < 10_000 ? format("%04d-%02d-%02d", year, month, day) : strftime("%Y-%m-%d")
    text.force_encoding(Encoding::US_ASCII)
  end

  COMPOSED = { "c" => "%a %b %e %H:%M:%S %Y", "x" => "%m/%d/%y", "D" => "%m/%d/%y", "X" => "%H:%M:%S",
               "T" => "%H:%M:%S", "F" => "%Y-%m-%d", "R" => "%H:%M", "r" => "%I:%M:%S %p", "v" => "%e-%^b-%Y",
               "+" => "%a %b %e %H:%M:%S %Z %Y" }.freeze
  private_constant :COMPOSED

  def __directive(whole, flags, width, colons, name)
    case name
    when "Y" then __number(year, flags, width, year < 0 ? 5 : 4, "0")
    when "C" then __number(year.div(100), flags, width, 2, "0")
    when "y" then __number(year % 100, flags, width, 2, "0")
    when "m" then __number(month, flags, width, 2, "0")
    when "d" then __number(mday, flags, width, 2, "0")
    when "e" then __number(mday, flags, width, 2, " ")
    when "j" then __number(yday, flags, width, 3, "0")
    when "H" then __number(hour, flags, width, 2, "0")
    when "k" then __number(hour, flags, width, 2, " ")
    when "I" then __number((hour + 11) % 12 + 1, flags, width, 2, "0")
    when "l" then __number((hour + 11) % 12 + 1, flags, width, 2, " ")
    when "M" then __number(min, flags, width, 2, "0")
    when "S" then __number(sec, flags, width, 2, "0")
    when "L" then __fraction(width || 3)
    when "N" then __fraction(width || 9)
    when "u" then __number(cwday, flags, width, 1, "0")
    when "w" then __number(wday, flags, width, 1, "0")
    when "G" then __number(cwyear, flags, width, cwyear < 0 ? 5 : 4, "0")
    when "g" then __number(cwyear % 100, flags, width, 2, "0")
    when "V" then __number(cweek, flags, width, 2, "0")
    when "U" then __number(Calendar.jd_to_weeknum(@__jd, 0, @__start)[1], flags, width, 2, "0")
    when "W" then __number(Calendar.jd_to_weeknum(@__jd, 1, @__start)[1], flags, width, 2, "0")
    when "s" then __number(((ajd - Rational(4_881_175, 2)) * 86_400).floor, flags, width, 1, "0")
    when "Q" then __number(((ajd - Rational(4_881_175, 2)) * 86_400_000).floor, flags, width, 1, "0")
    when "A" then __word(DAYNAMES[wday], flags, width)
    when "a" then __word(ABBR_DAYNAMES[wday], flags, width)
    when "B" then __word(MONTHNAMES[month], flags, width)
    when "b", "h" then __word(ABBR_MONTHNAMES[month], flags, width)
    when "p" then __word(flags.include?("#") ? (hour < 12 ? "am" : "pm") : (hour < 12 ? "AM" : "PM"), flags.delete("#"), width)
    when "P" then __word(hour < 12 ? "am" : "pm", flags, width)
    when "Z" then __word(zone, flags, width)
    when "z" then __zone_text(flags, width, colons)
    when "n" then __word("\n", flags, width)
    when "t" then __word("\t", flags, width)
    when "%" then __word("%", flags, width)
    else
      composed = COMPOSED[name]
      composed ? __word(strftime(composed), flags, width) : whole
    end
  end

  def __number(n, flags, width, default, fill)
    return n.to_s.rjust(width || default, fill) if flags.empty? && n >= 0
    pad = flags[/[-0_]/]
    return n.to_s if pad == "-" && !width
    pad = flags.scan(/[-0_]/).last
    fill = "0" if pad == "0"
    fill = " " if pad == "_"
    width ||= default
    return n.to_s if pad == "-"
    return n.to_s.rjust(width, " ") if fill == " "
    n < 0 ? "-" + n.abs.to_s.rjust(width - 1, "0") : n.to_s.rjust(width, "0")
  end

  def __word(text, flags, width)
    return text if flags.empty? && !width
    text = text.upcase if flags.include?("^")
    text = text.swapcase == text.downcase ? text.downcase : text.upcase if flags.include?("#")
    return text if !width || flags.include?("-")
    text.rjust(width, flags.scan(/[0_]/).last == "0" ? "0" : " ")
  end

  def __fraction(digits)
    (sec_fraction * 10**digits).floor.to_s.rjust(digits, "0")
  end

  def __zone_text(flags, width, colons)
    sign = @__offset < 0 ? "-" : "+"
    h, rest = @__offset.abs.divmod(3600)
    m, s = rest.divmod(60)
    tail = case colons
           when 0 then format("%02d", m)
           when 1 then format(":%02d", m)
           when 2 then format(":%02d:%02d", m, s)
           else s != 0 ? format(":%02d:%02d", m, s) : m != 0 ? format(":%02d", m) : ""
           end
    wide = [(width || 0) - tail.size - 1, flags.include?("-") && !width ? 1 : 2].max
    if flags.include?("_")
      (sign + h.to_s).rjust(wide + 1) + tail
    elsif flags.include?("-")
      sign + h.to_s + tail
    else
      sign + h.to_s.rjust(wide, "0") + tail
    end
  end
end
