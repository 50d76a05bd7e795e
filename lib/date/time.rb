# frozen_string_literal: true

class Time
  def to_time = self

  def to_date
    jd = Date.civil(year, month, mday, Date::GREGORIAN).jd
    Date.jd(jd)
  end

  def to_datetime
    jd = Date.civil(year, month, mday, Date::GREGORIAN).jd
    DateTime.jd(jd, hour, min, sec + subsec, Rational(utc_offset, 86_400))
  end
end
