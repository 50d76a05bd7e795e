# Time: making moments, zones, rounding. The leaves hold the moment and its fields.
class Time
  include Comparable

  class << self
    def now(**options)
      KumiSys.time_now(__allocate(self), KumiSys.time_in(options))
    end

    def at(time, more = __undef, unit = __undef, **options)
      zone = KumiSys.time_in(options)
      made = __allocate(self)
      if __is_a(time, Time)
        raise TypeError, "can't convert Time into an exact number" unless __undef?(more)
        __time_copy(made, time)
        return __same(zone, nil) ? made : KumiSys.time_move(made, zone)
      end
      seconds = KumiSys.exact_number(time)
      extra = __undef?(more) ? 0 : KumiSys.time_units(KumiSys.exact_number(more), unit)
      __time_set(made, seconds, extra, nil)
      __same(zone, nil) ? made : KumiSys.time_move(made, zone)
    end

    def utc(*fields) = KumiSys.time_fields(__allocate(self), fields, true)
    alias_method :gm, :utc
    def local(*fields) = KumiSys.time_fields(__allocate(self), fields, nil)
    alias_method :mktime, :local

    private def _load(data) = KumiSys.time_load(__allocate(self), data)
  end

  def initialize(year = __undef, month = __undef, day = __undef, hour = __undef, min = __undef,
                 sec = __undef, zone = __undef, precision: 9, **options)
    named = KumiSys.time_in(options)
    unless __undef?(zone) || __same(zone, nil)
      unless __same(named, nil)
        raise ArgumentError, "timezone argument given as positional and keyword arguments"
      end
      named = zone
    end
    return KumiSys.time_now(self, named) if __undef?(year)
    if __undef?(month) && __is_a(year, String)
      unless year.encoding.ascii_compatible?
        raise ArgumentError, "time string should have ASCII compatible encoding"
      end
      return KumiSys.time_parse(self, year, named, precision) unless year.match?(/\A\s*[+-]?\d+\s*\z/)
    end
    KumiSys.time_civil(self, [year, month, day, hour, min, sec], named, nil, true)
  end

  def initialize_copy(other) = __time_copy(self, other)

  def +(other)
    return KumiSys.time_shift(self, other, 1) if __is_a(other, Integer) || __is_a(other, Float) || __is_a(other, Rational)
    self + KumiSys.exact_number(other)
  end

  def -(other)
    return KumiSys.time_shift(self, other, -1) if __is_a(other, Integer) || __is_a(other, Float) || __is_a(other, Rational)
    return self - other if __is_a(other, Time)
    self - KumiSys.exact_number(other)
  end

  def <=>(other)
    return self <=> other if __is_a(other, Time)
    KumiSys.recursing_pair(:<=>, self, other) do
      r = other <=> self
      return nil if __same(r, nil)
      return r > 0 ? -1 : r < 0 ? 1 : 0
    end
    nil
  end

  def ==(other)
    return true if __same(self, other)
    r = self <=> other
    __same(r, nil) ? false : r == 0
  end

  def <(other) = KumiSys.time_order(self, other) < 0
  def <=(other) = KumiSys.time_order(self, other) <= 0
  def >(other) = KumiSys.time_order(self, other) > 0
  def >=(other) = KumiSys.time_order(self, other) >= 0

  def localtime(offset = nil)
    return self.localtime if __same(offset, nil)
    __check_frozen(self)
    KumiSys.time_move(self, offset)
  end

  def getlocal(offset = nil)
    copy = dup
    __same(offset, nil) ? __time_zone(copy, nil) : KumiSys.time_move(copy, offset)
  end

  def dst?
    return self.dst? if __same(__time_zone_of(self), nil)
    zone = self.zone
    __responds(zone, :dst?) ? (zone.dst?(self) ? true : false) : false
  end
  alias_method :isdst, :dst?
  alias_method :mon, :month
  alias_method :mday, :day
  alias_method :tv_sec, :to_i
  alias_method :tv_usec, :usec
  alias_method :tv_nsec, :nsec
  alias_method :gmt_offset, :utc_offset
  alias_method :gmtoff, :utc_offset
  alias_method :gmt?, :utc?
  alias_method :utc, :gmtime
  alias_method :getutc, :getgm
  alias_method :ctime, :asctime
  alias_method :iso8601, :xmlschema

  def strftime(format)
    zone = self.zone
    name = __responds(zone, :abbr) ? zone.abbr(self) : zone
    __time_strftime(self, KumiSys.to_str(format), __is_a(name, String) ? name : "")
  end

  def round(digits = nil) = KumiSys.time_round(self, __same(digits, nil) ? 0 : digits, :round)
  def floor(digits = nil) = KumiSys.time_round(self, __same(digits, nil) ? 0 : digits, :floor)
  def ceil(digits = nil) = KumiSys.time_round(self, __same(digits, nil) ? 0 : digits, :ceil)

  def to_a = [sec, min, hour, day, month, year, wday, yday, isdst, zone]

  def deconstruct_keys(keys)
    unless __same(keys, nil) || __is_a(keys, Array)
      raise TypeError, "wrong argument type #{__describe_class(keys)} (expected Array or nil)"
    end
    names = [:year, :month, :day, :yday, :wday, :hour, :min, :sec, :subsec, :dst, :zone]
    result = {}
    names.each do |name|
      next unless __same(keys, nil) || keys.include?(name)
      result[name] = __send__(name.equal?(:dst) ? :dst? : name)
    end
    result
  end

  private def _dump(limit = nil) = KumiSys.time_dump(self)
end

module KumiSys
  # The `in:` of a call; other keywords are an error.
  def self.time_in(options)
    return nil if options.empty?
    zone = options[:in]
    unknown = options.keys.reject { |k| __same(k, :in) }
    unless unknown.empty?
      raise ArgumentError, "unknown keyword#{"s" if unknown.size > 1}: #{unknown.map(&:inspect).join(", ")}"
    end
    zone
  end

  def self.time_now(time, zone)
    __time_set_now(time, nil)
    __same(zone, nil) ? time : time_move(time, zone)
  end

  # A number of seconds that is kept exactly.
  def self.exact_number(x)
    return x if __is_a(x, Integer) || __is_a(x, Rational) || __is_a(x, Float)
    unless __same(x, nil) || __is_a(x, String)
      r = check_call(x, :to_r)
      unless __undef?(r)
        inexact(x) unless __responds(x, :to_int) || x.respond_to?(:to_int)
        return r if __is_a(r, Integer) || __is_a(r, Rational)
        bad_conversion(x, :Rational, :to_r, r)
      end
      r = check_call(x, :to_int)
      return r if !__undef?(r) && __is_a(r, Integer)
    end
    inexact(x)
  end

  def self.inexact(x)
    raise TypeError, "can't convert #{__describe_type(x)} into an exact number"
  end

  # `count` units of a second's part, in seconds.
  def self.time_units(count, unit)
    scale = case __undef?(unit) ? :microsecond : unit
            when :millisecond then 1_000
            when :usec, :microsecond then 1_000_000
            when :nsec, :nanosecond then 1_000_000_000
            else raise ArgumentError, "unexpected unit: #{unit}"
            end
    count = count.to_r if __is_a(count, Float)
    __is_a(count, Integer) ? Rational(count, scale) : count / scale
  end

  # What a zone argument means: nil local, true UTC, an Integer offset, or a timezone object.
  def self.time_zone_arg(zone, cls, need)
    return zone if __same(zone, nil)
    text = try_str(zone)
    unless __same(text, nil)
      offset = __time_offset_text(text)
      return offset unless __same(offset, nil)
      if __responds(cls, :find_timezone)
        found = cls.find_timezone(text)
        return found unless __same(found, nil)
      end
      raise ArgumentError, "string contains null byte" unless text.encoding.ascii_compatible?
      raise ArgumentError, %("+HH:MM", "-HH:MM", "UTC" or "A".."I","K".."Z" expected for utc_offset: #{text})
    end
    return zone if __responds(zone, need) || !__builtin(zone, :respond_to?) && zone.respond_to?(need)
    offset = exact_number(zone)
    offset = offset.to_r unless __is_a(offset, Integer)
    offset = offset.numerator if offset.denominator == 1
    raise ArgumentError, "utc_offset out of range" if offset <= -86400 || offset >= 86400
    offset
  end

  # Local, UTC or an offset: no timezone object has to be asked.
  def self.plain_zone?(zone)
    __same(zone, nil) || __same(zone, true) || __is_a(zone, Integer) || __is_a(zone, Rational)
  end

  # Puts a moment under another zone's clocks.
  def self.time_move(time, zone)
    zone = time_zone_arg(zone, __class(time), :utc_to_local)
    return __time_zone(time, zone) if plain_zone?(zone)
    utc = __time_zone(__time_copy(__allocate(Time), time), true)
    local = zone.utc_to_local(utc)
    clock = local.to_i
    clock += local.utc_offset if __is_a(local, Time)
    __time_zone(time, [clock - utc.to_i, zone])
  end

  def self.time_shift(time, by, sign)
    by = -by if sign < 0
    zone = __time_zone_of(time)
    moved = __time_set(__allocate(Time), time.to_r, by, true)
    # A loaded time has the name of its zone only.
    __is_a(zone, Array) && !__is_a(zone[1], String) ? time_move(moved, zone[1]) : __time_zone(moved, zone)
  end

  def self.time_order(time, other)
    r = time <=> other
    cmp_fail(time, other) if __same(r, nil)
    r
  end

  def self.time_round(time, digits, how)
    digits = to_long(digits)
    raise ArgumentError, "negative ndigits given" if digits < 0
    exact = time.to_r
    rounded = exact.__send__(how, digits)
    time_shift(time, rounded - exact, 1)
  end

  TIME_MONTHS = { "jan" => 1, "feb" => 2, "mar" => 3, "apr" => 4, "may" => 5, "jun" => 6, "jul" => 7,
                  "aug" => 8, "sep" => 9, "oct" => 10, "nov" => 11, "dec" => 12 }.freeze

  # Time.utc and Time.local: up to seven fields, or the ten of Time#to_a.
  def self.time_fields(time, fields, zone)
    dst = nil
    count = fields.size
    raise ArgumentError, "wrong number of arguments (given #{count}, expected 1..8)" if count < 1 || count > 8 && count != 10
    if count == 10
      dst = fields[8] ? true : false
      fields = [fields[5], fields[4], fields[3], fields[2], fields[1], fields[0]]
    elsif count >= 7 && !__same(fields[6], nil)
      usec = exact_number_or_text(fields[6])
      raise ArgumentError, "subsecx out of range" if usec < 0 || usec >= 1_000_000
      fields = fields[0, 6]
      fields[5] = time_int(fields[5] || 0) + (__is_a(usec, Integer) ? Rational(usec, 1_000_000) : usec.to_r / 1_000_000)
      return time_civil(time, fields, zone, nil, false)
    end
    time_civil(time, fields[0, 6], zone, dst, false)
  end

  def self.exact_number_or_text(x) = __is_a(x, String) ? time_int(x) : exact_number(x)

  # A field of a time: an Integer, or text of one.
  def self.time_int(x)
    return x if __is_a(x, Integer)
    if __is_a(x, String)
      n = __parse_int(x, 10, true)
      raise ArgumentError, "invalid value for Integer(): #{x.inspect}" if __same(n, nil)
      return n
    end
    to_int(x)
  end

  def self.time_month(x)
    text = __is_a(x, Integer) ? nil : try_str(x)
    unless __same(text, nil)
      named = TIME_MONTHS[text.downcase]
      return named if named
      x = text
    end
    time_part("mon", time_int(x), 1, 12)
  end

  def self.time_field(name, x, default, least, most)
    return default if __undef?(x) || __same(x, nil)
    time_part(name, time_int(x), least, most)
  end

  # Sets a time by what the zone's clocks show.
  def self.time_civil(time, fields, zone, dst, strict)
    year, month, day, hour, min, sec = fields
    year = time_int(year)
    month = __undef?(month) || __same(month, nil) ? 1 : time_month(month)
    day = time_field("argument", day, 1, 1, 31)
    hour = time_field("hour", hour, 0, 0, 24)
    min = time_field("min", min, 0, 0, 59)
    if __undef?(sec) || __same(sec, nil)
      sec = 0
    elsif __is_a(sec, String)
      sec = strict && sec.include?(".") ? Rational(sec) : time_int(sec)
    else
      sec = exact_number(sec)
    end
    raise ArgumentError, "argument out of range" if sec < 0 || sec >= 61
    raise ArgumentError, "argument out of range" if hour == 24 && (min > 0 || sec > 0)
    zone = time_zone_arg(zone, __class(time), :local_to_utc) unless __same(zone, true)
    if plain_zone?(zone)
      return __time_civil(time, year, month, day, hour, min, sec, zone, dst)
    end
    local = __time_civil(__allocate(Time), year, month, day, hour, min, sec, true, nil)
    utc = zone.local_to_utc(local)
    offset = local.to_i - utc.to_i
    __time_civil(time, year, month, day, hour, min, sec, [offset, zone], nil)
  end

  # Time.new("2000-12-31 23:59:59.5 +0900")
  def self.time_parse(time, text, zone, precision)
    precision = __same(precision, nil) ? -1 : to_int(precision)
    m = /\A(\d+)(?:-(\d+)-(\d+)[ T](\d+)(?::(\d+)(?::(\d+)(?:(\.)(\d*))?)?)?)?/.match(text)
    time_bad_text(text) unless m && !text.match?(/\s\z/)
    raise ArgumentError, "year must be 4 or more digits: #{m[1]}" if m[1].size < 4
    unless m[4]
      raise ArgumentError, "no time information in #{text.inspect}" if text.match?(/\A\d+(-\d+){0,2}\z/)
      time_bad_text(text)
    end
    time_two_digits("mon", text, m.begin(2))
    time_two_digits("mday", text, m.begin(3))
    time_two_digits("hour", text, m.begin(4))
    clock = m.begin(4)
    if !m[5] && text[m.end(4)] == "."
      raise ArgumentError, "fraction hour is not supported: #{text[clock..m.end(4)]}"
    end
    raise ArgumentError, "missing min part: #{text[clock..m.end(4)]}" unless m[5]
    time_two_digits("min", text, m.begin(5))
    if !m[6] && text[m.end(5)] == "."
      raise ArgumentError, "fraction min is not supported: #{text[clock..m.end(5)]}"
    end
    raise ArgumentError, "missing sec part: #{text[clock..m.end(5)]}" unless m[6]
    time_two_digits("sec", text, m.begin(6))
    raise ArgumentError, "subsecond expected after dot: #{text[clock..m.end(7)]}" if m[7] && m[8].empty?
    mon = time_part("mon", m[2].to_i, 1, 12)
    mday = time_part("mday", m[3].to_i, 1, 31)
    hour = time_part("hour", m[4].to_i, 0, 24)
    min = time_part("min", m[5].to_i, 0, 59)
    sec = time_part("sec", m[6].to_i, 0, 60)
    if m[7]
      digits = precision < 0 ? m[8] : m[8][0, precision]
      sec += Rational(digits.to_i, 10**digits.size) unless digits.empty?
    end
    tail = m.post_match
    unless tail.empty?
      named = /\A\s*(\S+)\z/.match(tail)
      time_bad_text(text) unless named
      zone = named[1]
    end
    time_civil(time, [m[1].to_i, mon, mday, hour, min, sec], zone, nil, true)
  end

  def self.time_bad_text(text) = raise(ArgumentError, "can't parse: #{text.inspect}")

  def self.time_part(name, n, least, most)
    raise ArgumentError, "#{name} out of range" if n < least || n > most
    n
  end

  # The field at `at` has exactly two digits; the message shows some text from its separator on.
  def self.time_two_digits(name, text, at)
    return if text[at, 3].match?(/\A\d\d(?!\d)/)
    separator = text[at - 1]
    after = separator == "-" || separator == ":" ? " after '#{separator}'" : ""
    raise ArgumentError, "two digits #{name} is expected#{after}: #{text[at - 1, 11]}"
  end

  # CRuby's binary form: fields in two little-endian words, the rest as variables of the String.
  def self.time_dump(time)
    utc = time.getutc
    year = utc.year - 1900
    raise ArgumentError, "year too big to marshal: #{utc.year} UTC" if year < 0 || year > 0xffff
    p = 1 << 31 | (time.utc? ? 1 << 30 : 0) | year << 14 | (utc.month - 1) << 10 | utc.day << 5 | utc.hour
    s = utc.min << 26 | utc.sec << 20 | utc.usec
    text = [p, s].pack("VV")
    nano = (utc.subsec * 1_000_000_000) % 1000
    nano = Rational(nano)
    own = __marshal_ivars(time)
    i = 0
    while i < own.size
      __ivar_set(text, own[i], own[i + 1])
      i += 2
    end
    __ivar_set(text, :offset, time.utc_offset) unless time.utc?
    unless nano == 0
      __ivar_set(text, :nano_num, nano.numerator)
      __ivar_set(text, :nano_den, nano.denominator)
    end
    __ivar_set(text, :zone, time_zone_name(time))
    text
  end

  def self.time_zone_name(time)
    zone = time.zone
    __same(zone, nil) || __is_a(zone, String) ? zone : zone.name
  end

  def self.time_load(time, data)
    raise TypeError, "marshaled time format differ" unless data.bytesize >= 8
    own = __marshal_ivars(data)
    i = 0
    while i < own.size
      __ivar_set(time, own[i], own[i + 1]) if own[i].start_with?("@")
      i += 2
    end
    p, s = data.unpack("VV")
    # Before 1.8 it was seconds and microseconds.
    return __time_set(time, p, Rational(s, 1_000_000), nil) if p[31] == 0
    sec = s >> 20 & 0x3f
    nano = 0
    num = __ivar_get(data, :nano_num)
    den = __ivar_get(data, :nano_den)
    nano = Rational(num, den) if num && den
    sub = Rational((s & 0xfffff) * 1000 + nano, 1_000_000_000)
    __time_civil(time, (p >> 14 & 0xffff) + 1900, (p >> 10 & 0xf) + 1, p >> 5 & 0x1f, p & 0x1f, s >> 26 & 0x3f,
                 sec + sub, true, nil)
    return time if p[30] == 1
    offset = __ivar_get(data, :offset)
    return __time_zone(time, nil) if __same(offset, nil)
    zone = __ivar_get(data, :zone)
    return __time_zone(time, offset) unless __is_a(zone, String)
    cls = __class(time)
    found = __responds(cls, :find_timezone) ? cls.find_timezone(zone) : nil
    __time_zone(time, [offset, __same(found, nil) ? zone : found])
  end
end
