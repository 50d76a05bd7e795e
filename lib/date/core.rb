# frozen_string_literal: true

class Date
  class << self
    def civil(year = -4712, month = 1, day = 1, start = ITALY)
      check_numeric(year, "year")
      check_numeric(month, "month")
      check_numeric(day, "day")
      __from_day(day, start) { |d| Calendar.valid_civil(year.to_i, month.to_i, d, start) }
    end

    def jd(jd = 0, start = ITALY)
      check_numeric(jd, "jd")
      __from_day(jd, start) { |d| d }
    end

    def ordinal(year = -4712, yday = 1, start = ITALY)
      check_numeric(year, "year")
      check_numeric(yday, "yday")
      __from_day(yday, start) { |d| Calendar.valid_ordinal(year.to_i, d, start) }
    end

    def commercial(cwyear = -4712, cweek = 1, cwday = 1, start = ITALY)
      check_numeric(cwyear, "year")
      check_numeric(cweek, "cweek")
      check_numeric(cwday, "cwday")
      __from_day(cwday, start) { |d| Calendar.valid_commercial(cwyear.to_i, cweek.to_i, d, start) }
    end

    def today(start = ITALY)
      now = Time.now
      civil(now.year, now.month, now.day, start)
    end

    def valid_jd?(jd, _start = ITALY) = jd.is_a?(Numeric)

    def valid_civil?(year, month, day, start = ITALY)
      return false unless [year, month, day].all?(Numeric)
      !!Calendar.valid_civil(year.to_i, month.to_i, day.to_i, start)
    end
    alias valid_date? valid_civil?

    def valid_ordinal?(year, yday, start = ITALY)
      return false unless [year, yday].all?(Numeric)
      !!Calendar.valid_ordinal(year.to_i, yday.to_i, start)
    end

    def valid_commercial?(cwyear, cweek, cwday, start = ITALY)
      return false unless [cwyear, cweek, cwday].all?(Numeric)
      !!Calendar.valid_commercial(cwyear.to_i, cweek.to_i, cwday.to_i, start)
    end

    def gregorian_leap?(year)
      check_numeric(year, "year")
      Calendar.gregorian_leap?(year.to_i)
    end
    alias leap? gregorian_leap?

    def julian_leap?(year)
      check_numeric(year, "year")
      year.to_i % 4 == 0
    end

    # A date from its parts: Julian day and part of it, both local, seconds east of UTC.
    def __from_parts(jd, part, offset, start)
      date = allocate
      date.__send__(:__set_parts, jd, part, offset, start)
      date
    end
    private :__from_parts

    def _load(text) = Marshal.load(text)

    private

    # A date with a part of a day; the block makes a Julian day of the whole ones.
    def __from_day(day, start)
      day, part = Calendar.split(day)
      jd = yield(day) or raise Error, "invalid date"
      __from_parts(jd, 0, 0, start) + part
    end

    def check_numeric(x, name)
      raise TypeError, "invalid #{name} (not numeric)" unless x.is_a?(Numeric)
    end
  end

  # As `civil`, but a part of a day is of no account.
  def initialize(year = -4712, month = 1, day = 1, start = ITALY)
    [[year, "year"], [month, "month"], [day, "day"]].each { |x, name| Date.__send__(:check_numeric, x, name) } unless
      year.is_a?(Integer) && month.is_a?(Integer) && day.is_a?(Integer)
    day = Calendar.split(day)[0] unless day.is_a?(Integer)
    jd = Calendar.valid_civil(year.to_i, month.to_i, day, start) or raise Error, "invalid date"
    __set_parts(jd, 0, 0, start)
  end

  def jd = @__jd
  def start = Calendar.start_value(@__start).to_f

  def initialize_copy(other)
    __set_parts(*other.__send__(:__parts))
  end

  def year = __civil_fields[0]
  def month = __civil_fields[1]
  alias mon month
  def day = __civil_fields[2]
  alias mday day
  def wday = (@__jd + 1) % 7
  def yday = Calendar.jd_to_ordinal(@__jd, @__start)[1]
  def cwyear = Calendar.jd_to_commercial(@__jd, @__start)[0]
  def cweek = Calendar.jd_to_commercial(@__jd, @__start)[1]
  def cwday = wday == 0 ? 7 : wday
  def mjd = @__jd - 2_400_001
  def ld = @__jd - 2_299_160
  def day_fraction = @__part.to_r

  # Astronomical Julian day: days since noon, UTC.
  def ajd = @__jd + @__part - Rational(@__offset, 86_400) - Rational(1, 2)
  def amjd = ajd - Rational(4_800_001, 2)

  DAYNAMES.each_with_index do |name, i|
    define_method(:"#{name.downcase}?") { wday == i }
  end

  def julian? = Calendar.julian?(@__jd, @__start)
  def gregorian? = !julian?

  def leap?
    return Calendar.gregorian_leap?(year) if gregorian? || @__start.is_a?(Infinity) && @__start.infinite? == -1
    Calendar.civil_to_jd(year, 3, 1, JULIAN) - Calendar.civil_to_jd(year, 2, 28, JULIAN) == 2
  end

  def new_start(start = ITALY)
    self.class.__send__(:__from_parts, @__jd, @__part, @__offset, start)
  end

  def italy = new_start(ITALY)
  def england = new_start(ENGLAND)
  def julian = new_start(JULIAN)
  def gregorian = new_start(GREGORIAN)

  def +(other)
    raise TypeError, "expected numeric" unless other.is_a?(Numeric)
    return self.class.__send__(:__from_parts, @__jd + other, @__part, @__offset, @__start) if other.is_a?(Integer)
    days, part = Calendar.split(other)
    part += @__part
    if part >= 1
      part -= 1
      days += 1
    end
    self.class.__send__(:__from_parts, @__jd + days, part, @__offset, @__start)
  end

  def -(other)
    case other
    when Date then __whole_day? && other.__whole_day? ? Rational(@__jd - other.jd) : (ajd - other.ajd).to_r
    when Numeric then self + -other
    else raise TypeError, "expected numeric"
    end
  end

  def >>(other)
    raise TypeError, "expected numeric" unless other.is_a?(Numeric)
    y, m = (year * 12 + (month - 1) + other.to_i).divmod(12)
    d = mday
    until (jd = Calendar.valid_civil(y, m + 1, d, @__start))
      d -= 1
      raise Error, "invalid date" if d < 1
    end
    self + (jd - @__jd)
  end

  def <<(other)
    raise TypeError, "expected numeric" unless other.is_a?(Numeric)
    self >> -other
  end

  def next_day(n = 1) = self + n
  def prev_day(n = 1) = self - n
  def next_month(n = 1) = self >> n
  def prev_month(n = 1) = self << n
  def next_year(n = 1) = self >> n * 12
  def prev_year(n = 1) = self << n * 12
  def next = next_day
  alias succ next

  def <=>(other)
    case other
    when Date then __whole_day? && other.__whole_day? ? @__jd <=> other.jd : ajd <=> other.ajd
    when Numeric then ajd <=> other
    end
  end

  def ==(other)
    r = self <=> other
    r.nil? ? false : r == 0
  end

  # The same day, whatever the time.
  def ===(other)
    case other
    when Date then jd == other.jd
    when Numeric then jd == other.to_i
    else false
    end
  end

  def eql?(other) = other.is_a?(Date) && self == other
  def hash
    return [@__jd, Date].hash if __whole_day?
    days = @__jd + @__part - Rational(@__offset, 86_400)
    [days.denominator == 1 ? days.numerator : days, Date].hash
  end

  def step(limit, by = 1)
    return to_enum(:step, limit, by) unless block_given?
    raise ArgumentError, "step can't be 0" if by == 0
    date = self
    if by > 0
      while date <= limit
        yield date
        date += by
      end
    else
      while date >= limit
        yield date
        date += by
      end
    end
    self
  end

  def upto(max, &block)
    return to_enum(:upto, max) unless block
    step(max, 1, &block)
  end

  def downto(min, &block)
    return to_enum(:downto, min) unless block
    step(min, -1, &block)
  end

  def infinite? = false

  def deconstruct_keys(keys)
    unless keys.nil? || keys.is_a?(Array)
      raise TypeError, "wrong argument type #{keys.class} (expected Array or nil)"
    end
    names = __deconstruct_names
    names &= keys if keys
    names.to_h { |name| [name, __send__(name)] }
  end

  def to_date = Date.__send__(:__from_parts, @__jd, 0, 0, @__start)
  def to_datetime = DateTime.__send__(:__from_parts, @__jd, @__part, @__offset, @__start)
  def to_time = Time.local(year, month, mday)

  def inspect
    utc = @__jd + @__part - Rational(@__offset, 86_400)
    day = utc.floor
    seconds, rest = ((utc - day) * 86_400).divmod(1)
    start = Calendar.start_value(@__start)
    start = start.to_i if start.is_a?(Float) && start.finite?
    sign = @__offset < 0 ? "-" : "+"
    start = start.is_a?(Float) ? (start > 0 ? "Inf" : "-Inf") : start
    "#<#{self.class}: #{self} ((#{day}j,#{seconds}s,#{(rest * 1_000_000_000).to_i}n),#{sign}#{@__offset.abs}s,#{start}j)>"
  end

  def marshal_dump
    utc = @__jd + @__part - Rational(@__offset, 86_400)
    day = utc.floor
    seconds, rest = ((utc - day) * 86_400).divmod(1)
    nanos = rest * 1_000_000_000
    nanos = nanos.to_i if nanos.to_r.denominator == 1
    [0, day, seconds, nanos, @__offset, Calendar.start_value(@__start)]
  end

  def marshal_load(data)
    raise TypeError, "expected array" unless data.is_a?(Array)
    _, day, seconds, nanos, offset, start = data
    local = day + Rational(seconds + offset, 86_400) + Rational(nanos, 86_400_000_000_000)
    jd, part = Calendar.split(local)
    __set_parts(jd, part, offset, start)
  end

  # Midnight, UTC: as a Date is that no DateTime made.
  protected def __whole_day? = @__offset == 0 && @__part == 0

  private

  def __set_parts(jd, part, offset, start)
    Calendar.start_value(start)
    @__jd = jd
    @__part = part
    @__offset = offset
    @__start = start
    @__civil = nil
    self
  end

  def __parts = [@__jd, @__part, @__offset, @__start]
  def __civil_fields
    return @__civil if @__civil
    fields = Calendar.jd_to_civil(@__jd, @__start)
    @__civil = fields unless frozen?
    fields
  end
  def __deconstruct_names = [:year, :month, :day, :yday, :wday]

  # Fields of the time of day, for strftime and DateTime.
  def hour = (@__part * 24).floor
  def min = (@__part * 1440).floor % 60
  def sec = (@__part * 86_400).floor % 60
  def sec_fraction = (@__part * 86_400) % 1
  def offset = Rational(@__offset, 86_400)

  def zone
    sign = @__offset < 0 ? "-" : "+"
    format("%s%02d:%02d", sign, @__offset.abs / 3600, @__offset.abs / 60 % 60)
  end

  alias minute min
  alias second sec
  alias second_fraction sec_fraction
end
