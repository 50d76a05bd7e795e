# frozen_string_literal: true

class Date
  include Comparable

  # A date that no calendar has, or text that is none.
  class Error < ArgumentError; end

  VERSION = "3.5.0"

  MONTHNAMES = [nil, "January", "February", "March", "April", "May", "June", "July", "August", "September",
                "October", "November", "December"].freeze
  ABBR_MONTHNAMES = [nil, "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"].freeze
  DAYNAMES = %w[Sunday Monday Tuesday Wednesday Thursday Friday Saturday].freeze
  ABBR_DAYNAMES = %w[Sun Mon Tue Wed Thu Fri Sat].freeze

  # First days of the Gregorian calendar, as Julian day numbers.
  ITALY = 2_299_161
  ENGLAND = 2_361_222

  # Beyond all numbers, on either side.
  class Infinity < Numeric
    attr_reader :d
    protected :d

    def initialize(d = 1)
      @d = d <=> 0
    end

    def zero? = false
    def finite? = false
    def infinite? = d.nonzero?
    def nan? = d.zero?
    def abs = self.class.new
    def -@ = self.class.new(-d)
    def +@ = self.class.new(+d)

    def <=>(other)
      case other
      when Infinity then d <=> other.d
      when Float then other.infinite? ? d <=> other.infinite? : d
      when Numeric then d
      else
        begin
          l, r = other.coerce(self)
          l <=> r
        rescue NoMethodError
          nil
        end
      end
    end

    def coerce(other)
      case other
      when Numeric then [-d, d]
      else super
      end
    end

    def to_f
      return 0 if @d == 0
      @d > 0 ? Float::INFINITY : -Float::INFINITY
    end
  end

  JULIAN = Float::INFINITY
  GREGORIAN = -Float::INFINITY

  # Conversions between Julian day numbers and calendars. `sg` is the first Julian
  # day of the Gregorian calendar: a number, or an infinity of either sign.
  module Calendar
    module_function

    # -1, 0 or 1 for infinite starts: is every day Gregorian, neither, Julian?
    def start_value(sg)
      return sg if sg.is_a?(Integer)
      case sg
      when Infinity then sg.to_f
      when Numeric then sg
      else raise TypeError, "invalid start"
      end
    end

    def julian?(jd, sg) = jd < start_value(sg)

    def gregorian_to_jd(y, m, d)
      a = (14 - m) / 12
      yy = y + 4800 - a
      mm = m + 12 * a - 3
      d + (153 * mm + 2) / 5 + 365 * yy + yy / 4 - yy / 100 + yy / 400 - 32_045
    end

    def julian_to_jd(y, m, d)
      a = (14 - m) / 12
      yy = y + 4800 - a
      mm = m + 12 * a - 3
      d + (153 * mm + 2) / 5 + 365 * yy + yy / 4 - 32_083
    end

    def civil_to_jd(y, m, d, sg)
      jd = gregorian_to_jd(y, m, d)
      julian?(jd, sg) ? julian_to_jd(y, m, d) : jd
    end

    def jd_to_civil(jd, sg)
      if julian?(jd, sg)
        b = 0
        c = jd + 32_082
      else
        a = jd + 32_044
        b = (4 * a + 3) / 146_097
        c = a - 146_097 * b / 4
      end
      d = (4 * c + 3) / 1461
      e = c - 1461 * d / 4
      m = (5 * e + 2) / 153
      [100 * b + d - 4800 + m / 10, m + 3 - 12 * (m / 10), e - (153 * m + 2) / 5 + 1]
    end

    # Julian day of a date that exists; nil otherwise. Negative months and days count from the end.
    def valid_civil(y, m, d, sg)
      m += 13 if m < 0
      return nil if m < 1 || m > 12
      if d < 0
        last = last_day(y, m, sg) or return nil
        ny, nm, nd = jd_to_civil(last + d + 1, sg)
        return nil unless ny == y && nm == m
        d = nd
      end
      return nil if d < 1 || d > 31
      jd = gregorian_to_jd(y, m, d)
      return d <= 28 || d <= (m == 2 ? (gregorian_leap?(y) ? 29 : 28) : 30 + (m + m / 8) % 2) ? jd : nil unless julian?(jd, sg)
      jd = julian_to_jd(y, m, d)
      jd_to_civil(jd, sg) == [y, m, d] ? jd : nil
    end

    # Julian day of the last day of a month.
    def last_day(y, m, sg)
      31.downto(1) do |d|
        jd = civil_to_jd(y, m, d, sg)
        return jd if jd_to_civil(jd, sg) == [y, m, d]
      end
      nil
    end

    # Julian day of the first and last day of a year.
    def year_start(y, sg)
      1.upto(31) do |d|
        jd = civil_to_jd(y, 1, d, sg)
        return jd if jd_to_civil(jd, sg) == [y, 1, d]
      end
      nil
    end

    def year_end(y, sg) = last_day(y, 12, sg)

    def valid_ordinal(y, d, sg)
      first = year_start(y, sg) or return nil
      if d < 0
        last = year_end(y, sg) or return nil
        jd = last + d + 1
      else
        jd = first + d - 1
      end
      jd_to_ordinal(jd, sg)[0] == y && d != 0 ? jd : nil
    end

    def jd_to_ordinal(jd, sg)
      y = jd_to_civil(jd, sg)[0]
      [y, jd - year_start(y, sg) + 1]
    end

    # Monday of the first commercial week.
    def commercial_start(y, sg)
      j = year_start(y, sg) + 3
      j - (j + 1 - 1) % 7
    end

    def commercial_to_jd(y, w, d, sg) = commercial_start(y, sg) + 7 * (w - 1) + (d - 1)

    def jd_to_commercial(jd, sg)
      a = jd_to_civil(jd - 3, sg)[0]
      y = jd >= commercial_start(a + 1, sg) ? a + 1 : a
      w = 1 + (jd - commercial_start(y, sg)) / 7
      d = (jd + 1) % 7
      [y, w, d == 0 ? 7 : d]
    end

    def valid_commercial(y, w, d, sg)
      d += 8 if d < 0
      return nil if d < 1 || d > 7
      if w < 0
        ny, nw, = jd_to_commercial(commercial_start(y + 1, sg) + w * 7, sg)
        return nil unless ny == y
        w = nw
      end
      jd = commercial_to_jd(y, w, d, sg)
      jd_to_commercial(jd, sg) == [y, w, d] ? jd : nil
    end

    # Weeks of the year that begin on Sunday (f = 0) or Monday (f = 1).
    def weeknum_to_jd(y, w, d, f, sg)
      a = year_start(y, sg) + 6
      a - (a - f + 1) % 7 - 7 + 7 * w + d
    end

    def jd_to_weeknum(jd, f, sg)
      y = jd_to_civil(jd, sg)[0]
      a = year_start(y, sg) + 6
      w, d = (jd - (a - (a - f + 1) % 7) + 7).divmod(7)
      [y, w, d]
    end

    def valid_weeknum(y, w, d, f, sg)
      d += 7 if d < 0
      return nil if d < 0 || d > 6
      if w < 0
        ny, nw, = jd_to_weeknum(weeknum_to_jd(y + 1, 1, f, f, sg) + w * 7, f, sg)
        return nil unless ny == y
        w = nw
      end
      jd = weeknum_to_jd(y, w, d, f, sg)
      jd_to_weeknum(jd, f, sg) == [y, w, d] ? jd : nil
    end

    # Seconds of the day of a time that exists; nil otherwise.
    def valid_time(h, min, s)
      h += 24 if h < 0
      min += 60 if min < 0
      s += 60 if s < 0
      ok = h >= 0 && h < 24 && min >= 0 && min < 60 && s >= 0 && s < 60 || h == 24 && min == 0 && s == 0
      ok ? h * 3600 + min * 60 + s : nil
    end

    def gregorian_leap?(y) = y % 4 == 0 && y % 100 != 0 || y % 400 == 0

    # Splits a number of days into whole days and a part of one, exactly.
    def split(x)
      raise TypeError, "invalid day (not numeric)" unless x.is_a?(Numeric)
      return [x, 0] if x.is_a?(Integer)
      x = x.is_a?(Float) ? Rational((x * 86_400_000_000_000).round, 86_400_000_000_000) : x.to_r
      whole = x.floor
      rest = x - whole
      [whole, rest == 0 ? 0 : rest]
    end
  end
  private_constant :Calendar
end
