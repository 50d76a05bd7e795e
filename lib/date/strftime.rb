# frozen_string_literal: true

class Date
  def strftime(format = "%F")
    format = format.to_str
    out = format.gsub(/%([-0^#_]*)(\d+)?(:{0,3})(?:E(?=[CcXxYy])|O(?=[deHkIlmMSuUVwWy]))?([a-zA-Z%+])/) do
      whole = $&
      flags = $1
      width = $2&.to_i
      colons = $3.size
      raise Errno::ERANGE, "Numerical result out of range" if width && width > 1 << 24
      directive(whole, flags, width, colons, $4)
    end
    out.force_encoding(format.encoding)
  end

  def to_s = strftime("%Y-%m-%d")
  def iso8601 = strftime("%Y-%m-%d")
  alias xmlschema iso8601
  def rfc3339 = strftime("%Y-%m-%dT%H:%M:%S%:z")
  def rfc2822 = strftime("%a, %-d %b %Y %T %z")
  alias rfc822 rfc2822
  def asctime = strftime("%a %b %e %H:%M:%S %Y")
  alias ctime asctime

  def httpdate
    utc = @offset == 0 ? self : to_datetime.new_offset(0)
    utc.strftime("%a, %d %b %Y %T GMT")
  end

  # First Julian days of the Japanese eras, newest first, with their letter and the year before the first.
  ERAS = [[2_458_605, "R", 2018], [2_447_535, "H", 1988], [2_424_875, "S", 1925], [2_419_614, "T", 1911],
          [2_405_160, "M", 1867]].freeze
  private_constant :ERAS

  def jisx0301
    era = ERAS.find { |first, _, _| @jd >= first }
    return strftime("%Y-%m-%d") unless era
    format("%s%02d", era[1], year - era[2]) + strftime(".%m.%d")
  end

  private

  COMPOSED = { "c" => "%a %b %e %H:%M:%S %Y", "x" => "%m/%d/%y", "D" => "%m/%d/%y", "X" => "%H:%M:%S",
               "T" => "%H:%M:%S", "F" => "%Y-%m-%d", "R" => "%H:%M", "r" => "%I:%M:%S %p", "v" => "%e-%^b-%Y",
               "+" => "%a %b %e %H:%M:%S %Z %Y" }.freeze
  private_constant :COMPOSED

  def directive(whole, flags, width, colons, name)
    if colons > 0 && name != "z"
      return whole
    end
    case name
    when "Y" then number(year, flags, width, year < 0 ? 5 : 4, "0")
    when "C" then number(year.div(100), flags, width, 2, "0")
    when "y" then number(year % 100, flags, width, 2, "0")
    when "m" then number(month, flags, width, 2, "0")
    when "d" then number(mday, flags, width, 2, "0")
    when "e" then number(mday, flags, width, 2, " ")
    when "j" then number(yday, flags, width, 3, "0")
    when "H" then number(hour, flags, width, 2, "0")
    when "k" then number(hour, flags, width, 2, " ")
    when "I" then number((hour + 11) % 12 + 1, flags, width, 2, "0")
    when "l" then number((hour + 11) % 12 + 1, flags, width, 2, " ")
    when "M" then number(min, flags, width, 2, "0")
    when "S" then number(sec, flags, width, 2, "0")
    when "L" then fraction(width || 3)
    when "N" then fraction(width || 9)
    when "u" then number(cwday, flags, width, 1, "0")
    when "w" then number(wday, flags, width, 1, "0")
    when "G" then number(cwyear, flags, width, cwyear < 0 ? 5 : 4, "0")
    when "g" then number(cwyear % 100, flags, width, 2, "0")
    when "V" then number(cweek, flags, width, 2, "0")
    when "U" then number(Calendar.jd_to_weeknum(@jd, 0, @start)[1], flags, width, 2, "0")
    when "W" then number(Calendar.jd_to_weeknum(@jd, 1, @start)[1], flags, width, 2, "0")
    when "s" then number(((ajd - Rational(4_881_175, 2)) * 86_400).floor, flags, width, 1, "0")
    when "Q" then number(((ajd - Rational(4_881_175, 2)) * 86_400_000).floor, flags, width, 1, "0")
    when "A" then word(DAYNAMES[wday], flags, width)
    when "a" then word(ABBR_DAYNAMES[wday], flags, width)
    when "B" then word(MONTHNAMES[month], flags, width)
    when "b", "h" then word(ABBR_MONTHNAMES[month], flags, width)
    when "p" then word(flags.include?("#") ? (hour < 12 ? "am" : "pm") : (hour < 12 ? "AM" : "PM"), flags.delete("#"), width)
    when "P" then word(hour < 12 ? "am" : "pm", flags, width)
    when "Z" then word(zone, flags, width)
    when "z" then zone_text(flags, width, colons)
    when "n" then word("\n", flags, width)
    when "t" then word("\t", flags, width)
    when "%" then word("%", flags, width)
    else
      composed = COMPOSED[name]
      composed ? word(strftime(composed), flags, width) : whole
    end
  end

  def number(n, flags, width, default, fill)
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

  def word(text, flags, width)
    text = text.upcase if flags.include?("^")
    text = text.swapcase == text.downcase ? text.downcase : text.upcase if flags.include?("#")
    return text if !width || flags.include?("-")
    text.rjust(width, flags.scan(/[0_]/).last == "0" ? "0" : " ")
  end

  def fraction(digits)
    (sec_fraction * 10**digits).floor.to_s.rjust(digits, "0")
  end

  def zone_text(flags, width, colons)
    sign = @offset < 0 ? "-" : "+"
    h, rest = @offset.abs.divmod(3600)
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
