# frozen_string_literal: true

require "date"

# Times from text, and as text of the usual standards.
class Time
  # Hours east of UTC of the zone names of RFC 822 and UTC's others.
  ZONE_HOURS = { "UTC" => 0, "Z" => 0, "UT" => 0, "GMT" => 0, "EST" => -5, "EDT" => -4, "CST" => -6, "CDT" => -5,
                 "MST" => -7, "MDT" => -6, "PST" => -8, "PDT" => -7, "JST" => 9 }.freeze
  MONTH_NAMES = %w[Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec].freeze
  DAY_NAMES = %w[Sun Mon Tue Wed Thu Fri Sat].freeze
  private_constant :ZONE_HOURS, :MONTH_NAMES, :DAY_NAMES

  class << self
    # Seconds east of UTC of a zone's name; nil when it is unknown.
    def zone_offset(zone, year = now.year)
      zone = zone.upcase
      case zone
      when /\A([+-])(\d\d)(:?)(\d\d)(?:\3(\d\d))?\z/
        seconds = $2.to_i * 3600 + $4.to_i * 60 + $5.to_i
        $1 == "-" ? -seconds : seconds
      when /\A[A-IK-Z]\z/
        i = zone.ord - 64
        return 0 if zone == "Z"
        i <= 9 ? i * 3600 : i <= 13 ? (i - 1) * 3600 : (13 - i) * 3600
      else
        return ZONE_HOURS[zone] * 3600 if ZONE_HOURS.key?(zone)
        [Time.local(year, 1, 1), Time.local(year, 7, 1)].each do |t|
          return t.utc_offset if t.zone&.upcase == zone
        end
        nil
      end
    end

    # A time from text of any usual form; what is missing comes from `now`.
    def parse(date, now = nil)
      fields = Date._parse(date, !block_given?)
      year = fields[:year]
      year = yield(year) if year && block_given?
      from_fields(date, year, fields[:yday], fields[:mon], fields[:mday], fields[:hour], fields[:min], fields[:sec],
                  fields[:sec_fraction], fields[:zone], now)
    end

    def strptime(date, format, now = self.now)
      fields = Date._strptime(date, format) or raise ArgumentError, "invalid date or strptime format - '#{date}' '#{format}'"
      if (seconds = fields[:seconds])
        seconds += fields[:sec_fraction] if fields[:sec_fraction]
        offset = fields[:offset]
        time = at(seconds)
        return offset ? time.localtime(offset) : time
      end
      year = fields[:year]
      year = yield(year) if year && block_given?
      year ||= fields[:cwyear] if fields[:cwyear]
      if fields[:cwyear] || fields[:cweek] || fields[:wnum0] || fields[:wnum1]
        day = Date.strptime(date, format)
        return from_fields(date, day.year, nil, day.mon, day.mday, fields[:hour], fields[:min], fields[:sec],
                           fields[:sec_fraction], fields[:zone], now)
      end
      from_fields(date, year, fields[:yday], fields[:mon], fields[:mday], fields[:hour], fields[:min], fields[:sec],
                  fields[:sec_fraction], fields[:zone], now)
    end

    # "Wed, 05 Oct 2011 22:26:12 -0400"
    def rfc2822(date)
      m = /\A\s*(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s*,\s*)?(\d{1,2})\s+(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+(\d{2,})\s+(\d{2})\s*:\s*(\d{2})(?:\s*:\s*(\d\d))?\s*([+-]\d{4}|[A-Z]+)/i.match(date)
      raise ArgumentError, "not RFC 2822 compliant date: #{date.inspect}" unless m
      year = m[3].to_i
      year += m[3].size == 3 || year >= 50 ? 1900 : 2000 if m[3].size < 4
      month = MONTH_NAMES.index(m[2].capitalize) + 1
      in_zone(year, month, m[1].to_i, m[4].to_i, m[5].to_i, m[6].to_i, m[7])
    end
    alias rfc822 rfc2822

    # "Thu, 06 Oct 2011 02:26:12 GMT" and the two older forms.
    def httpdate(date)
      days = "Mon|Tue|Wed|Thu|Fri|Sat|Sun"
      months = MONTH_NAMES.join("|")
      case date
      when /\A\s*(?:#{days}),\x20(\d{2})\x20(#{months})\x20(\d{4})\x20(\d{2}):(\d{2}):(\d{2})\x20GMT\s*\z/i
        rfc2822(date).utc
      when /\A\s*(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday),\x20(\d\d)-(#{months})-(\d\d)\x20(\d\d):(\d\d):(\d\d)\x20GMT\s*\z/i
        year = $3.to_i
        utc(year + (year < 50 ? 2000 : 1900), $2, $1.to_i, $4.to_i, $5.to_i, $6.to_i)
      when /\A\s*(?:#{days})\x20(#{months})\x20(\d\d|\x20\d)\x20(\d\d):(\d\d):(\d\d)\x20(\d\d\d\d)\s*\z/i
        utc($6.to_i, MONTH_NAMES.index($1.capitalize) + 1, $2.to_i, $3.to_i, $4.to_i, $5.to_i)
      else
        raise ArgumentError, "not RFC 2616 compliant date: #{date.inspect}"
      end
    end

    # "2011-10-05T22:26:12-04:00", with or without dashes, or a date alone.
    def xmlschema(time)
      case time
      when /\A\s*(-?\d+)-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d(?::?\d\d)?)?\s*\z/i,
           /\A\s*(-?\d{4,})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\.\d+)?(Z|[+-]\d\d(?::?\d\d)?)?\s*\z/i
        sec = $6.to_i
        sec += Rational($7[1..].to_i, 10**($7.size - 1)) if $7
        zone = $8
        zone += "00" if zone && zone.match?(/\A[+-]\d\d\z/)
        in_zone($1.to_i, $2.to_i, $3.to_i, $4.to_i, $5.to_i, sec, zone)
      when /\A\s*(-?\d+)-(\d\d)-(\d\d)(Z|[+-]\d\d(?::?\d\d)?)?\s*\z/i
        in_zone($1.to_i, $2.to_i, $3.to_i, 0, 0, 0, $4)
      else
        raise ArgumentError, "invalid xmlschema date: #{time.inspect}"
      end
    end
    alias iso8601 xmlschema

    private

    # Is a zone's text a name of UTC itself?
    def zone_utc?(zone) = zone.match?(/\A(?:GMT|UTC?|Z|-00:?00)\z/i)

    # A time of day in a zone: nil local, an unknown one local too.
    def in_zone(year, mon, day, hour, min, sec, zone)
      return local(year, mon, day, hour, min, sec) unless zone
      return utc(year, mon, day, hour, min, sec) if zone_utc?(zone)
      offset = zone_offset(zone, year)
      return local(year, mon, day, hour, min, sec) unless offset
      time = new(year, mon, day, hour, min, sec, offset)
      # Where the machine's own zone says the same, the time is a local one.
      here = at(time.to_r)
      here.utc_offset == offset ? here : time
    end

    def from_fields(date, year, yday, mon, day, hour, min, sec, fraction, zone, now)
      unless year || yday || mon || day || hour || min || sec || fraction
        raise ArgumentError, "no time information in #{date.inspect}"
      end
      offset = zone ? zone_offset(zone, year || (now || self.now).year) : nil
      offset = 0 if zone && zone_utc?(zone)
      offset ||= Date._parse("00:00 #{zone}")[:offset] if zone
      if yday
        base = year || (now || self.now).year
        first = Date.ordinal(base, yday)
        mon, day = first.mon, first.mday
        year = base
      end
      unless year && mon && day
        base = now || self.now
        base = offset ? base.getlocal(offset) : base
        known = false
        year ? known = true : year = base.year
        mon ? known = true : mon = known ? 1 : base.month
        day ? known = true : day = known ? 1 : base.mday
      end
      sec = (sec || 0) + (fraction || 0)
      # The sixtieth second begins the next minute.
      hour ||= 0
      min ||= 0
      return local(year, mon, day, hour, min, sec) unless zone
      return utc(year, mon, day, hour, min, sec) if zone_utc?(zone)
      return local(year, mon, day, hour, min, sec) unless offset
      time = new(year, mon, day, hour, min, sec, offset)
      here = at(time.to_r)
      here.utc_offset == offset ? here : time
    end
  end

  def rfc2822 = strftime("%a, %d %b %Y %T ") + (utc? ? "-0000" : strftime("%z"))
  alias rfc822 rfc2822

  def httpdate = getutc.strftime("%a, %d %b %Y %T GMT")
end
