# frozen_string_literal: true

# A date with a time of day and an offset from UTC.
class DateTime < Date
  def self.civil(year = -4712, month = 1, day = 1, hour = (h = true; 0), minute = (m = true; 0),
                 second = (s = true; 0), offset = 0, start = ITALY)
    check_numeric(year, "year")
    check_numeric(month, "month")
    check_numeric(day, "day")
    with_time(day, hour, minute, second, offset, start, [h, m, s]) do |d|
      Calendar.valid_civil(year.to_i, month.to_i, d, start)
    end
  end
  singleton_class.alias_method :new, :civil

  def self.jd(jd = 0, hour = (h = true; 0), minute = (m = true; 0),
                 second = (s = true; 0), offset = 0, start = ITALY)
    check_numeric(jd, "jd")
    with_time(jd, hour, minute, second, offset, start, [h, m, s]) { |d| d }
  end

  def self.ordinal(year = -4712, yday = 1, hour = (h = true; 0), minute = (m = true; 0),
                 second = (s = true; 0), offset = 0, start = ITALY)
    check_numeric(year, "year")
    check_numeric(yday, "yday")
    with_time(yday, hour, minute, second, offset, start, [h, m, s]) do |d|
      Calendar.valid_ordinal(year.to_i, d, start)
    end
  end

  def self.commercial(cwyear = -4712, cweek = 1, cwday = 1, hour = (h = true; 0), minute = (m = true; 0),
                 second = (s = true; 0), offset = 0, start = ITALY)
    check_numeric(cwyear, "year")
    check_numeric(cweek, "cweek")
    check_numeric(cwday, "cwday")
    with_time(cwday, hour, minute, second, offset, start, [h, m, s]) do |d|
      Calendar.valid_commercial(cwyear.to_i, cweek.to_i, d, start)
    end
  end

  def self.now(start = ITALY) = Time.now.to_datetime.new_start(start).__send__(:__as, self)

  singleton_class.undef_method :today

  # Only the last field given may have a part; it flows into the smaller ones.
  def self.with_time(day, hour, minute, second, offset, start, missing)
    check_numeric(hour, "hour")
    check_numeric(minute, "minute")
    check_numeric(second, "second")
    day, part = Calendar.split(day)
    jd = yield(day) or raise Error, "invalid date"
    whole_hour, hour_part = Calendar.split(hour)
    whole_minute, minute_part = Calendar.split(minute)
    raise Error, "invalid fraction" if part != 0 && !missing[0]
    raise Error, "invalid fraction" if hour_part != 0 && !missing[1]
    raise Error, "invalid fraction" if minute_part != 0 && !missing[2]
    seconds = second.is_a?(Float) ? Rational((second * 1_000_000_000).round, 1_000_000_000) : second
    time = Calendar.valid_time(whole_hour, whole_minute, seconds) or raise Error, "invalid date"
    total = Rational(time, 86_400) + Rational(hour_part, 24) + Rational(minute_part, 1440) + part
    extra, part = Calendar.split(total)
    __from_parts(jd + extra, part, offset_seconds(offset), start)
  end

  def self.offset_seconds(offset)
    case offset
    when String
      seconds = Date.__send__(:zone_to_diff, offset)
      unless seconds
        warn "invalid offset is ignored"
        seconds = 0
      end
      seconds
    when Numeric
      seconds = (offset * 86_400).round
      unless seconds.between?(-86_400, 86_400)
        warn "invalid offset is ignored"
        return 0
      end
      seconds
    else
      raise TypeError, "invalid offset"
    end
  end
  private_class_method :with_time, :offset_seconds

  public :hour, :min, :minute, :sec, :second, :sec_fraction, :second_fraction, :offset, :zone

  def new_offset(offset = 0)
    seconds = self.class.__send__(:offset_seconds, offset)
    local = @__jd + @__part + Rational(seconds - @__offset, 86_400)
    jd, part = Calendar.split(local)
    self.class.__send__(:__from_parts, jd, part, seconds, @__start)
  end

  # The same moment as one of a subclass.
  def __as(kind) = kind.__send__(:__from_parts, @__jd, @__part, @__offset, @__start)
  private :__as

  def to_datetime = self
  def to_date = Date.__send__(:__from_parts, @__jd, 0, 0, @__start)

  def to_time
    g = new_start(GREGORIAN)
    Time.new(g.year, g.month, g.mday, g.hour, g.min, g.sec + g.sec_fraction, @__offset)
  end

  def to_s = strftime("%Y-%m-%dT%H:%M:%S%:z")
  def strftime(format = "%FT%T%:z") = super

  def iso8601(n = 0) = strftime("%Y-%m-%d") + __time_text(n)
  alias xmlschema iso8601
  def rfc3339(n = 0) = iso8601(n)
  def jisx0301(n = 0) = super() + __time_text(n)

  def self._strptime(text, format = "%FT%T%z") = super

  def self.strptime(text = "-4712-01-01T00:00:00+00:00", format = "%FT%T%z", start = ITALY)
    fields = _strptime(text, format) or raise Error, "invalid date"
    complete_datetime(fields, start)
  end

  def self.parse(text = "-4712-01-01T00:00:00+00:00", comp = true, start = ITALY, limit: 128)
    complete_datetime(_parse(text, comp, limit: limit), start)
  end

  { iso8601: "-4712-01-01T00:00:00+00:00", rfc3339: "-4712-01-01T00:00:00+00:00",
    xmlschema: "-4712-01-01T00:00:00+00:00", rfc2822: "Mon, 1 Jan -4712 00:00:00 +0000",
    httpdate: "Mon, 01 Jan -4712 00:00:00 GMT", jisx0301: "-4712-01-01T00:00:00+00:00" }.each do |name, default|
    define_singleton_method(name) do |text = default, start = ITALY, limit: 128|
      complete_datetime(__send__(:"_#{name}", text, limit: limit), start)
    end
  end
  singleton_class.alias_method :rfc822, :rfc2822

  private

  def __time_text(n)
    n = n.to_i
    n > 0 ? strftime("T%H:%M:%S.%#{n}N%:z") : strftime("T%H:%M:%S%:z")
  end

  def __deconstruct_names = [:year, :month, :day, :yday, :wday, :hour, :min, :sec, :sec_fraction, :zone]
end
