# frozen_string_literal: true

class Date
  # Reads text by a format, directive by directive.
  class Reader
    attr_reader :fields, :at

    def initialize(text)
      @text = text
      @at = 0
      @fields = {}
    end

    def rest = @text[@at..]
    def done? = @at >= @text.size

    # Patterns as they are looked for where the reader stands, by themselves.
    HERE = {}
    # Numbers of at most so many digits.
    DIGITS = Array.new(10) { |n| /\d{1,#{n}}/ if n > 0 }.freeze
    SIGNED = Array.new(10) { |n| /[-+]?\d{1,#{n}}/ if n > 0 }.freeze
    FRACTION = Array.new(10) { |n| /([-+]?)(\d{1,#{n}})/ if n > 0 }.freeze
    DAYS = DAYNAMES.zip(ABBR_DAYNAMES).map { |full, short| /#{full}|#{short}/ }.freeze
    MONTHS = MONTHNAMES.zip(ABBR_MONTHNAMES).map { |full, short| full && /#{full}|#{short}/ }.freeze
    private_constant :HERE, :DIGITS, :SIGNED, :FRACTION, :DAYS, :MONTHS

    # Consumes what the pattern matches here; nil if it does not.
    def eat(pattern)
      here = HERE[pattern] ||= /\G(?:#{pattern.source})/i
      m = here.match(@text, @at)
      m = nil if m && m.begin(0) != @at
      @at = m.end(0) if m
      m
    end

    # Follows a whole format; false at the first mismatch.
    def follow(format)
      (STEPS[format] || steps(format)).each do |step|
        case step
        when :space then eat(/\s*/)
        when String
          return false unless @text[@at] == step
          @at += 1
        else
          return false unless __directive(*step)
        end
      end
      true
    end

    private

    # Formats that were used, as white space, other letters, and directives: their letters, and are they before another number? Such a
    # one takes its fixed width only.
    STEPS = {}
    MOST_STEPS = 100
    # Letters of a format that is kept.
    LONGEST = 200
    private_constant :STEPS, :MOST_STEPS, :LONGEST

    def steps(format)
      steps = []
      format.scan(/%(?:[EO]?)(?::{0,3})([a-zA-Z%+])(?:(?=(\d|%[EO]?[CDdeFGgHIjkLlMmNQRrSsTUuVvWwXxYy]))|)|(\s)|./m) do
        steps << ($1 ? [$1.freeze, !!$2].freeze : $3 ? :space : $&.freeze)
      end
      return steps if format.size > LONGEST
      STEPS.clear if STEPS.size >= MOST_STEPS
      STEPS[format.dup.freeze] = steps.freeze
    end

    def number(key, digits, range)
      m = eat(DIGITS[digits]) or return false
      n = m[0].to_i
      return false unless range.cover?(n)
      @fields[key] = n
      true
    end

    def signed(key, digits, fixed)
      m = eat(fixed ? SIGNED[digits] : /[-+]?\d+/) or return false
      @fields[key] = m[0].to_i
      true
    end

    def name(key, patterns)
      i = patterns.index { |pattern| pattern && eat(pattern) } or return false
      @fields[key] = i
      true
    end

    def __directive(d, fixed)
      case d
      when "A", "a" then name(:wday, DAYS)
      when "B", "b", "h" then name(:mon, MONTHS)
      when "C" then signed(:_cent, 2, fixed)
      when "c" then follow("%a %b %e %H:%M:%S %Y")
      when "D", "x" then follow("%m/%d/%y")
      when "d", "e"
        eat(/ /)
        number(:mday, 2, 1..31)
      when "F" then follow("%Y-%m-%d")
      when "G" then signed(:cwyear, 4, fixed)
      when "g" then short_year(:cwyear)
      when "H", "k"
        eat(/ /)
        number(:hour, 2, 0..24)
      when "I", "l"
        eat(/ /)
        number(:hour, 2, 1..12)
      when "j" then number(:yday, 3, 1..366)
      when "L" then fraction(3, fixed)
      when "N" then fraction(9, fixed)
      when "M" then number(:min, 2, 0..59)
      when "m" then number(:mon, 2, 1..12)
      when "n", "t" then eat(/\s*/) && true
      when "P", "p"
        m = eat(/([ap])(?:m|\.m\.)/) or return false
        @fields[:_merid] = m[1].downcase == "a" ? 0 : 12
        true
      when "Q"
        m = eat(/-?\d+/) or return false
        @fields[:seconds] = Rational(m[0].to_i, 1000)
        true
      when "R" then follow("%H:%M")
      when "r" then follow("%I:%M:%S %p")
      when "S" then number(:sec, 2, 0..60)
      when "s"
        m = eat(/-?\d+/) or return false
        @fields[:seconds] = m[0].to_i
        true
      when "T", "X" then follow("%H:%M:%S")
      when "U" then number(:wnum0, 2, 0..53)
      when "W" then number(:wnum1, 2, 0..53)
      when "u" then number(:cwday, 1, 1..7)
      when "V" then number(:cweek, 2, 1..53)
      when "v" then follow("%e-%b-%Y")
      when "w" then number(:wday, 1, 0..6)
      when "Y" then signed(:year, 4, fixed)
      when "y" then short_year(:year)
      when "Z", "z" then zone
      when "%" then eat(/%/) && true
      when "+" then follow("%a %b %e %H:%M:%S %Z %Y")
      else
        eat(/%#{d}/) && true
      end
    end

    def short_year(key)
      m = eat(/\d{1,2}/) or return false
      n = m[0].to_i
      @fields[key] = n
      @fields[:_cent] ||= n >= 69 ? 19 : 20
      true
    end

    def fraction(digits, fixed)
      m = eat(fixed ? FRACTION[digits] : /([-+]?)(\d+)/) or return false
      n = Rational(m[2].to_i, 10**m[2].size)
      @fields[:sec_fraction] = m[1] == "-" ? -n : n
      true
    end

    def zone
      m = eat(/(?:gmt|utc?)?[-+]\d+(?:[,.:]\d+(?::\d+)?)?|(?-i:[[:alpha:].\s]+)(?:standard|daylight)\stime\b|(?-i:[[:alpha:]]+)(?:\sdst)?\b/)
      return false unless m
      @fields[:zone] = m[0]
      @fields[:offset] = Date.__send__(:zone_to_diff, m[0])
      true
    end
  end
  private_constant :Reader

  class << self
    # The fields a format finds in a text; nil when it does not fit.
    def _strptime(text, format = "%F")
      text = text.to_str
      reader = Reader.new(text)
      return nil unless reader.follow(format.to_str)
      fields = reader.fields
      fields[:leftover] = reader.rest unless reader.done?
      century = fields.delete(:_cent)
      if century
        fields[:cwyear] += century * 100 if fields[:cwyear]
        fields[:year] += century * 100 if fields[:year]
      end
      meridian = fields.delete(:_merid)
      fields[:hour] = fields[:hour] % 12 + meridian if meridian && fields[:hour]
      fields
    end

    def strptime(text = "-4712-01-01", format = "%F", start = ITALY)
      fields = _strptime(text, format) or raise Error, "invalid date"
      complete_date(fields, start)
    end

    private

    # A date from fields found in a text.
    def complete_date(fields, start)
      raise Error, "invalid date" if fields.nil? || fields.empty?
      fields = expand_seconds(fields)
      jd = find_jd(fields, start) or raise Error, "invalid date"
      __from_parts(jd, 0, 0, start)
    end

    def complete_datetime(fields, start)
      raise Error, "invalid date" if fields.nil? || fields.empty?
      fields = expand_seconds(fields)
      jd = find_jd(fields, start, true) or raise Error, "invalid date"
      sec = fields[:sec] == 60 ? 59 : fields[:sec] || 0
      time = Calendar.valid_time(fields[:hour] || 0, fields[:min] || 0, sec) or raise Error, "invalid date"
      offset = fields[:offset] || 0
      unless offset.between?(-86_400, 86_400)
        warn "invalid offset is ignored"
        offset = 0
      end
      total = Rational(time, 86_400) + (fields[:sec_fraction] || 0) / 86_400
      extra, part = Calendar.split(total)
      __from_parts(jd + extra, part, offset, start)
    end

    # Seconds since 1970 stand for all other fields.
    def expand_seconds(fields)
      return fields unless fields[:seconds]
      local = fields[:seconds] + (fields[:offset] || 0)
      days, rest = local.divmod(86_400)
      seconds, fraction = rest.divmod(1)
      fields = fields.merge(jd: 2_440_588 + days, hour: seconds / 3600, min: seconds / 60 % 60, sec: seconds % 60)
      fields[:sec_fraction] = fraction.to_r unless fraction == 0 && !fields[:sec_fraction]
      fields
    end

    FORMS = [[:time, []], [nil, [:jd]], [:ordinal, [:year, :yday]], [:civil, [:year, :mon, :mday]],
             [nil, [:jd]], [:commercial, [:cwyear, :cweek, :cwday, :wday]], [:wday, [:wday]],
             [:wnum0, [:year, :wnum0, :wday]], [:wnum1, [:year, :wnum1, :wday]],
             [:commercial, [:cwyear, :cweek, :wday]], [:wnum0, [:year, :wnum0, :cwday]],
             [:wnum1, [:year, :wnum1, :cwday]]].freeze
    private_constant :FORMS

    # Fields of other forms than year, month and day.
    OTHERS = %i[jd yday cwyear cweek cwday wnum0 wnum1].freeze
    private_constant :OTHERS

    # Completes the form with the most fields from today's date and finds its day.
    def find_jd(fields, start, with_time = false)
      if (year = fields[:year]) && (mon = fields[:mon]) && (mday = fields[:mday]) && OTHERS.none? { |k| fields.key?(k) }
        return Calendar.valid_civil(year, mon, mday, start)
      end
      clock = fields.key?(:hour) || fields.key?(:min) || fields.key?(:sec)
      form, keys = FORMS.max_by.with_index { |(_, ks), i| [ks.count { |k| fields.key?(k) }, -i] }
      if keys.none? { |k| fields.key?(k) }
        return clock && with_time ? Date.today.jd : nil
      end
      fields = fields.dup
      now = nil
      case form
      when :ordinal
        fields[:year] ||= (now ||= Date.today).year
        fields[:yday] ||= 1
      when :civil
        [:year, :mon, :mday].each do |k|
          break if fields.key?(k)
          fields[k] = (now ||= Date.today).__send__(k)
        end
        fields[:mon] ||= 1
        fields[:mday] ||= 1
      when :commercial
        [:cwyear, :cweek].each do |k|
          break if fields.key?(k)
          fields[k] = (now ||= Date.today).__send__(k)
        end
        fields[:cweek] ||= 1
        fields[:cwday] ||= fields[:wday] ? (fields[:wday] == 0 ? 7 : fields[:wday]) : 1
      when :wday
        now = Date.today
        return now.jd - now.wday + fields[:wday]
      when :wnum0
        fields[:year] ||= Date.today.year
        fields[:wnum0] ||= 0
        fields[:wday] ||= fields[:cwday] ? fields[:cwday] % 7 : 0
      when :wnum1
        fields[:year] ||= Date.today.year
        fields[:wnum1] ||= 0
        fields[:wday] ||= fields[:cwday] ? fields[:cwday] % 7 : 1
      end
      jd_of(fields, start)
    end

    def jd_of(f, start)
      return f[:jd] if f[:jd]
      if f[:yday] && f[:year] && (jd = Calendar.valid_ordinal(f[:year], f[:yday], start))
        return jd
      end
      if f[:mday] && f[:mon] && f[:year] && (jd = Calendar.valid_civil(f[:year], f[:mon], f[:mday], start))
        return jd
      end
      wday = f[:cwday] || (f[:wday] && (f[:wday] == 0 ? 7 : f[:wday]))
      if wday && f[:cweek] && f[:cwyear] && (jd = Calendar.valid_commercial(f[:cwyear], f[:cweek], wday, start))
        return jd
      end
      day = f[:wday] || (f[:cwday] && f[:cwday] % 7)
      if day && f[:wnum0] && f[:year] && (jd = Calendar.valid_weeknum(f[:year], f[:wnum0], day, 0, start))
        return jd
      end
      if day && f[:wnum1] && f[:year]
        return Calendar.valid_weeknum(f[:year], f[:wnum1], (day - 1) % 7, 1, start)
      end
      nil
    end
  end
end
