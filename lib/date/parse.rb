# frozen_string_literal: true

class Date
  # Seconds east of UTC of zone abbreviations.
  ZONES = { "utc" => 0, "gmt" => 0, "ut" => 0, "z" => 0, "wet" => 0,
            "est" => -5, "edt" => -4, "cst" => -6, "cdt" => -5, "mst" => -7, "mdt" => -6, "pst" => -8, "pdt" => -7,
            "akst" => -9, "akdt" => -8, "hst" => -10, "hadt" => -9, "ast" => -4, "adt" => -3, "nst" => -3.5, "ndt" => -2.5,
            "bst" => 1, "cet" => 1, "met" => 1, "mez" => 1, "cest" => 2, "mest" => 2, "mesz" => 2, "eet" => 2,
            "eest" => 3, "msk" => 3, "msd" => 4, "ist" => 5.5, "jst" => 9, "kst" => 9, "sgt" => 8, "hkt" => 8,
            "eastern" => -5, "central" => -6, "mountain" => -7, "pacific" => -8, "tokyo" => 9, "korea" => 9, "china" => 8,
            "aest" => 10, "aedt" => 11, "acst" => 9.5, "awst" => 8, "nzst" => 12, "nzdt" => 13,
            "brt" => -3, "brst" => -2, "art" => -3, "clt" => -4, "sast" => 2, "eat" => 3, "wat" => 1, "wast" => 2, "west" => 1,
            "sst" => -11, "idle" => 12, "idlw" => -12 }.freeze
  private_constant :ZONES

  class << self
    # The fields found in text of any usual form.
    def _parse(text, comp = true, limit: 128)
      text = check_text(text, limit)
      Parser.new(text, comp).run
    end

    def parse(text = "-4712-01-01", comp = true, start = ITALY, limit: 128)
      complete_date(_parse(text, comp, limit: limit), start)
    end

    def _iso8601(text, limit: 128)
      return {} if text.nil?
      Formats.iso8601(check_text(text, limit))
    end

    def _rfc3339(text, limit: 128)
      return {} if text.nil?
      Formats.rfc3339(check_text(text, limit))
    end

    def _xmlschema(text, limit: 128)
      return {} if text.nil?
      Formats.xmlschema(check_text(text, limit))
    end

    def _rfc2822(text, limit: 128)
      return {} if text.nil?
      Formats.rfc2822(check_text(text, limit))
    end
    alias _rfc822 _rfc2822

    def _httpdate(text, limit: 128)
      return {} if text.nil?
      Formats.httpdate(check_text(text, limit))
    end

    def _jisx0301(text, limit: 128)
      return {} if text.nil?
      Formats.jisx0301(check_text(text, limit))
    end

    { iso8601: "-4712-01-01", rfc3339: "-4712-01-01T00:00:00+00:00", xmlschema: "-4712-01-01",
      rfc2822: "Mon, 1 Jan -4712 00:00:00 +0000", httpdate: "Mon, 01 Jan -4712 00:00:00 GMT",
      jisx0301: "-4712-01-01" }.each do |name, default|
      define_method(name) do |text = default, start = ITALY, limit: 128|
        complete_date(__send__(:"_#{name}", text, limit: limit), start)
      end
    end
    alias rfc822 rfc2822

    private

    def check_text(text, limit)
      text = text.name if text.is_a?(Symbol)
      raise TypeError, "no implicit conversion of #{text.nil? ? "nil" : text.class} into String" unless text.respond_to?(:to_str)
      text = text.to_str
      if limit && text.size > limit
        raise ArgumentError, "string length (#{text.size}) exceeds the limit #{limit}"
      end
      text
    end

    # Seconds east of UTC of a zone's text; nil when it is unknown.
    def zone_to_diff(zone)
      text = zone.downcase.strip
      dst = false
      if text.sub!(/\s+(standard|daylight)\s+time\z/, "")
        dst = $1 == "daylight"
      elsif text.sub!(/\s+dst\z/, "")
        dst = true
      end
      if (hours = ZONES[text])
        return (hours * 3600).to_i + (dst ? 3600 : 0)
      end
      if text.match?(/\A[a-z]\z/) && text != "j"
        i = text.ord - 96
        return i <= 9 ? i * 3600 : i <= 13 ? (i - 1) * 3600 : (13 - i) * 3600
      end
      m = /\A(?:gmt|utc?)?([-+])(\d+)(?:(?::(\d+)(?::(\d+))?)|[,.](\d+))?\z/.match(text) or return nil
      sign = m[1] == "-" ? -1 : 1
      if m[3]
        seconds = m[2].to_i * 3600 + m[3].to_i * 60 + m[4].to_i
      elsif m[5]
        seconds = m[2].to_i * 3600 + (Rational(m[5].to_i, 10**m[5].size) * 3600).round
      else
        d = m[2]
        d = "0" + d if d.size.odd?
        seconds = d[0, 2].to_i * 3600 + d[2, 2].to_i * 60 + d[4, 2].to_i
      end
      sign * seconds
    end
  end

  # The standard forms: each is one pattern.
  module Formats
    module_function

    def time(fields, hour, min, sec, fraction, zone)
      fields[:hour] = hour.to_i if hour
      fields[:min] = min.to_i if min
      fields[:sec] = sec.to_i if sec
      fields[:sec_fraction] = Rational(fraction.to_i, 10**fraction.size) if fraction
      if zone
        fields[:zone] = zone
        fields[:offset] = Date.__send__(:zone_to_diff, zone)
      end
      fields
    end

    ZONE = /(?<zone>z|[-+]\d{2}(?::?\d{2})?)/i

    def iso8601(text)
      f = {}
      case text
      when /\A\s*(?:([-+]?\d{2,})-(\d{2})?-(\d{2})|([-+]?\d{2,})?-(\d{3})|(\d{4}|\d{2})?-w(\d{2})-(\d)|-w-(\d))(?:[t\s](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(z|[-+]\d{2}(?::?\d{2})?)?)?\s*\z/i
        m = $~
        if m[3]
          return {} if !m[2] && m[1] && m[1] !~ /\A-/ && m[1]
          f[:year] = full_year(m[1]) if m[1]
          f[:mon] = m[2].to_i if m[2]
          f[:mday] = m[3].to_i
        elsif m[5]
          f[:year] = full_year(m[4]) if m[4]
          f[:yday] = m[5].to_i
        elsif m[8]
          f[:cwyear] = full_year(m[6]) if m[6]
          f[:cweek] = m[7].to_i
          f[:cwday] = m[8].to_i
        else
          f[:cwday] = m[9].to_i
        end
        time(f, m[10], m[11], m[12], m[13], m[14])
      when /\A\s*--(\d{2})?-(\d{2})\s*\z/
        f[:mon] = $1.to_i if $1
        f[:mday] = $2.to_i
        f
      when /\A\s*(?:([-+]?(?:\d{4}|\d{2})|--)(\d{2}|-)(\d{2})|([-+]?(?:\d{4}|\d{2}))(\d{3})|-(\d{3})|(\d{4}|\d{2})w(\d{2})(\d)|-w(\d{2})(\d)|-w-(\d))(?:t?(\d{2})(\d{2})(?:(\d{2})(?:[.,](\d+))?)?(z|[-+]\d{2}(?:\d{2})?)?)?\s*\z/i
        m = $~
        if m[3]
          f[:year] = full_year(m[1]) unless m[1] == "--"
          f[:mon] = m[2].to_i unless m[2] == "-"
          f[:mday] = m[3].to_i
        elsif m[5]
          f[:year] = full_year(m[4])
          f[:yday] = m[5].to_i
        elsif m[6]
          f[:yday] = m[6].to_i
        elsif m[9]
          f[:cwyear] = full_year(m[7])
          f[:cweek] = m[8].to_i
          f[:cwday] = m[9].to_i
        elsif m[11]
          f[:cweek] = m[10].to_i
          f[:cwday] = m[11].to_i
        else
          f[:cwday] = m[12].to_i
        end
        time(f, m[13], m[14], m[15], m[16], m[17])
      when /\A\s*(\d{2}):?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?(z|[-+]\d{2}(?::?\d{2})?)?\s*\z/i
        time(f, $1, $2, $3, $4, $5)
      else
        f
      end
    end

    def full_year(text)
      n = text.to_i
      return n if text.match?(/\A[-+]/) || text.size > 2
      n >= 69 ? n + 1900 : n + 2000
    end

    def rfc3339(text)
      m = /\A\s*(-?\d{4})-(\d{2})-(\d{2})(?:t|\s)(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(z|[-+]\d{2}:\d{2})\s*\z/i.match(text)
      return {} unless m
      time({ year: m[1].to_i, mon: m[2].to_i, mday: m[3].to_i }, m[4], m[5], m[6], m[7], m[8])
    end

    def xmlschema(text)
      case text
      when /\A\s*(-?\d{4,})(?:-(\d{2})(?:-(\d{2}))?)?(?:t(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?)?(z|[-+]\d{2}(?::\d{2})?)?\s*\z/i
        m = $~
        f = { year: m[1].to_i }
        f[:mon] = m[2].to_i if m[2]
        f[:mday] = m[3].to_i if m[3]
        time(f, m[4], m[5], m[6], m[7], m[8])
      when /\A\s*(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(z|[-+]\d{2}(?::\d{2})?)?\s*\z/i
        time({}, $1, $2, $3, $4, $5)
      when /\A\s*(?:--(\d{2})(?:-(\d{2}))?|---(\d{2}))(z|[-+]\d{2}(?::\d{2})?)?\s*\z/i
        m = $~
        f = {}
        f[:mon] = m[1].to_i if m[1]
        f[:mday] = (m[2] || m[3]).to_i if m[2] || m[3]
        time(f, nil, nil, nil, nil, m[4])
      else
        {}
      end
    end

    def day_index(name) = ABBR_DAYNAMES.index { |d| d.casecmp?(name[0, 3]) }
    def month_index(name) = ABBR_MONTHNAMES.index { |m| m&.casecmp?(name[0, 3]) }

    def rfc2822(text)
      m = /\A\s*(?:(sun|mon|tue|wed|thu|fri|sat)\s*,\s+)?(\d{1,2})\s+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\s+(-?\d{2,})\s+(\d{2}):(\d{2})(?::(\d{2}))?\s*([-+]\d{4}|[[:alpha:]]+)\s*\z/i.match(text)
      return {} unless m
      f = {}
      f[:wday] = day_index(m[1]) if m[1]
      f[:mday] = m[2].to_i
      f[:mon] = month_index(m[3])
      year = m[4].to_i
      if m[4].size < 4 && m[4] !~ /\A-/
        year += m[4].size == 3 || year >= 50 ? 1900 : 2000
      end
      f[:year] = year
      time(f, m[5], m[6], m[7], nil, m[8])
    end

    def httpdate(text)
      case text
      when /\A\s*(sun|mon|tue|wed|thu|fri|sat)\s*,\s+(\d{2})\s+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\s+(-?\d{4})\s+(\d{2}):(\d{2}):(\d{2})\s+(gmt)\s*\z/i
        m = $~
        f = { wday: day_index(m[1]), mday: m[2].to_i, mon: month_index(m[3]), year: m[4].to_i }
        time(f, m[5], m[6], m[7], nil, m[8])
      when /\A\s*((?:sun|mon|tues|wednes|thurs|fri|satur)day)\s*,\s+(\d{2})\s*-\s*(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\s*-\s*(\d{2})\s+(\d{2}):(\d{2}):(\d{2})\s+(gmt)\s*\z/i
        m = $~
        f = { wday: day_index(m[1]), mday: m[2].to_i, mon: month_index(m[3]), year: full_year(m[4]) }
        time(f, m[5], m[6], m[7], nil, m[8])
      when /\A\s*(sun|mon|tue|wed|thu|fri|sat)\s+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\s+(\d{1,2})\s+(\d{2}):(\d{2}):(\d{2})\s+(\d{4})\s*\z/i
        m = $~
        f = { wday: day_index(m[1]), mon: month_index(m[2]), mday: m[3].to_i, year: m[7].to_i }
        time(f, m[4], m[5], m[6], nil, nil)
      else
        {}
      end
    end

    ERA_YEARS = { "m" => 1867, "t" => 1911, "s" => 1925, "h" => 1988, "r" => 2018 }.freeze

    def jisx0301(text)
      m = /\A\s*([mtshr])?(\d{2})\.(\d{2})\.(\d{2})(?:t(?:(\d{2}):(\d{2})(?::(\d{2})(?:[,.](\d*))?)?(z|[-+]\d{2}(?::?\d{2})?)?)?)?\s*\z/i.match(text)
      return iso8601(text) unless m
      f = { year: m[2].to_i + ERA_YEARS[(m[1] || "h").downcase], mon: m[3].to_i, mday: m[4].to_i }
      fraction = m[8] && m[8].empty? ? nil : m[8]
      time(f, m[5], m[6], m[7], fraction, m[9])
    end
  end
  private_constant :Formats

  # Finds dates and times in free text: each step takes out what it has understood.
  class Parser
    MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
    DAYS = "sun|mon|tue|wed|thu|fri|sat"

    def initialize(text, comp)
      @text = text.gsub(%r{[^-+',./:@[:alnum:]\[\]]+}, " ")
      @comp = comp
      @f = {}
    end

    def run
      day_name
      clock
      european || american || iso || week_date || jis || eu_slash || slashes || dots || iso21 || year_only || month_only ||
        mday_only || digits
      before_christ
      fragment
      century
      if @f[:zone] && !@f.key?(:offset)
        @f[:offset] = Date.__send__(:zone_to_diff, @f[:zone])
      end
      @f.delete(:_bc)
      @f.delete(:_comp)
      @f
    end

    private

    # Takes a match out of the text.
    def take(pattern)
      m = pattern.match(@text) or return nil
      @text = m.pre_match + " " + m.post_match
      m
    end

    def day_name
      m = take(/\b(#{DAYS})[^-\/\d\s]*/i) or return
      @f[:wday] = Formats.day_index(m[1])
    end

    def clock
      m = take(/(\d+\s*h(?:\s*\d+m?(?:\s*\d+s?)?)?|\d+\s*:\s*\d+(?:\s*:\s*\d+(?:[,.]\d*)?)?(?:\s*[ap](?:m\b|\.m\.))?|\d+\s*[ap](?:m\b|\.m\.))(?:\s*((?:gmt|utc?)?[-+]\d+(?:[,.:]\d+(?::\d+)?)?|(?-i:[[:alpha:].\s]+)(?:standard|daylight)\stime\b|(?-i:[[:alpha:]]+)(?:\sdst)?\b))?/i)
      return unless m
      t = /\A(\d+)(?:\s*[:h]\s*(\d+))?(?:\s*[:m]?\s*(\d+)(?:[,.](\d*))?)?\s*s?\s*(?:([ap])(?:m\b|\.m\.))?/i.match(m[1])
      hour = t[1].to_i
      hour = hour % 12 + (t[5].downcase == "p" ? 12 : 0) if t[5]
      @f[:hour] = hour
      @f[:min] = t[2].to_i if t[2]
      @f[:sec] = t[3].to_i if t[3]
      @f[:sec_fraction] = Rational(t[4].to_i, 10**t[4].size) if t[4] && !t[4].empty?
      @f[:zone] = m[2] if m[2]
    end

    # Sets year, month and day, whichever of the three looks like which.
    def set_date(year, mon, mday, bc = false)
      if year && mon && mday.nil?
        year, mon, mday = mday, year, mon
      end
      if year.nil?
        if mday && mday.size > 2
          year, mday = mday, nil
        elsif mday && mday[0] == "'"
          year, mday = mday, nil
        end
      end
      if year && year !~ /\A'?[-+]?\d/
        year = year[/[-+]?\d+.*/]
      end
      if year && /\A'|\d{3,}|\A[-+]/ !~ year && mday && (mday.size > 2 || mday[0] == "'")
        year, mday = mday, year
      end
      if year
        m = /(')?([-+])?(\d+)/.match(year)
        if m
          n = (m[2].to_s + m[3]).to_i
          @f[:_comp] = false if m[2] || m[3].size > 2
          @f[:_comp] = true if m[1]
          n = 1 - n if bc
          @f[:year] = n
        end
      end
      @f[:mon] = mon[/\d+/].to_i if mon
      @f[:mday] = mday[/\d+/].to_i if mday
      true
    end

    def european
      m = take(/('?\d+)[^-\d\s]*\s*\b(#{MONTHS})[^-\d\s']*(?:\s*(c(?:e|\.e\.)|b(?:ce|\.c\.e\.)|a(?:d|\.d\.)|b(?:c|\.c\.))?\s*('?-?\d+(?:(?:st|nd|rd|th)\b)?))?/i)
      return unless m
      set_date(m[4], Formats.month_index(m[2]).to_s, m[1], m[3]&.downcase&.start_with?("b"))
    end

    def american
      m = take(/\b(#{MONTHS})[^-\d\s']*\s*('?\d+)[^-\d\s']*(?:\s*,?\s*(c(?:e|\.e\.)|b(?:ce|\.c\.e\.)|a(?:d|\.d\.)|b(?:c|\.c\.))?\s*('?-?\d+))?/i)
      return unless m
      set_date(m[4], Formats.month_index(m[1]).to_s, m[2], m[3]&.downcase&.start_with?("b"))
    end

    def iso
      m = take(/('?[-+]?\d+)-(\d+)-('?-?\d+)/) or return
      set_date(m[1], m[2], m[3])
    end

    def week_date
      if (m = take(/\b(\d{2}|\d{4})?-?w(\d{2})(?:-?(\d))?\b/i))
        @f[:cwyear] = m[1].to_i if m[1]
        @f[:cweek] = m[2].to_i
        @f[:cwday] = m[3].to_i if m[3]
      elsif (m = take(/-w-(\d)\b/i))
        @f[:cwday] = m[1].to_i
      elsif (m = take(/--(\d{2})?-(\d{2})\b/))
        @f[:mon] = m[1].to_i if m[1]
        @f[:mday] = m[2].to_i
      elsif (m = take(/--(\d{2})(\d{2})?\b/))
        @f[:mon] = m[1].to_i
        @f[:mday] = m[2].to_i if m[2]
      elsif !/[,.](\d{2}|\d{4})-\d{3}\b/.match?(@text) && (m = take(/\b(\d{2}|\d{4})-(\d{3})\b/))
        @f[:year] = m[1].to_i
        @f[:yday] = m[2].to_i
      elsif !/\d-\d{3}\b/.match?(@text) && (m = take(/\b-(\d{3})\b/))
        @f[:yday] = m[1].to_i
      end
      m
    end

    def jis
      m = take(/\b([mtshr])(\d+)\.(\d+)\.(\d+)/i) or return
      @f[:year] = m[2].to_i + Formats::ERA_YEARS[m[1].downcase]
      @f[:mon] = m[3].to_i
      @f[:mday] = m[4].to_i
      true
    end

    def eu_slash
      if (m = take(/('?-?\d+)-(#{MONTHS})[^-\/.]*-('?-?\d+)/i))
        set_date(m[3], Formats.month_index(m[2]).to_s, m[1])
      elsif (m = take(/\b(#{MONTHS})[^-\/.]*-('?\d+)(?:-('?-?\d+))?/i))
        set_date(m[3], Formats.month_index(m[1]).to_s, m[2])
      end
    end

    def slashes
      m = take(%r{('?-?\d+)/\s*('?\d+)(?:\D\s*('?-?\d+))?}) or return
      set_date(m[1], m[2], m[3])
    end

    def dots
      m = take(/('?-?\d+)\.\s*('?\d+)\.\s*('?-?\d+)/) or return
      set_date(m[1], m[2], m[3])
    end

    def iso21 = nil

    def year_only
      m = take(/'(\d+)\b/) or return
      @f[:year] = m[1].to_i
      true
    end

    def month_only
      m = take(/\b(#{MONTHS})\S*/i) or return
      @f[:mon] = Formats.month_index(m[1])
      true
    end

    def mday_only
      m = take(/\b(\d+)(?:st|nd|rd|th)\b/i) or return
      @f[:mday] = m[1].to_i
      true
    end

    # A run of digits, told apart by its length.
    def digits
      m = take(/([-+]?)(\d{2,14})(?:\s*t?\s*(\d{2,6})?(?:[,.](\d*))?)?(z\b|[-+]\d{1,4}\b|\[[-+]?\d[^\]]*\])?/i) or return
      sign = m[1]
      d = m[2]
      year = ->(text) { @f[:year] = (sign + text).to_i }
      case d.size
      when 2
        @f[m[3].nil? && m[4] ? :sec : :mday] = d.to_i
      when 4
        if m[3].nil? && m[4]
          @f[:sec] = d[2, 2].to_i
          @f[:min] = d[0, 2].to_i
        else
          @f[:mon] = d[0, 2].to_i
          @f[:mday] = d[2, 2].to_i
        end
      when 6
        if m[3].nil? && m[4]
          @f[:hour], @f[:min], @f[:sec] = d.scan(/../).map(&:to_i)
        else
          year.(d[0, 2])
          @f[:mon] = d[2, 2].to_i
          @f[:mday] = d[4, 2].to_i
        end
      when 8, 10, 12, 14
        if m[3].nil? && m[4]
          parts = d.scan(/../).reverse
          [:sec, :min, :hour, :mday, :mon].each_with_index { |k, i| @f[k] = parts[i].to_i if parts[i] }
          if d.size == 12
            @f[:year] = (sign + d[0, 2]).to_i
          elsif d.size == 14
            year.(d[0, 4])
            @f[:_comp] = false
          end
        else
          year.(d[0, 4])
          @f[:mon] = d[4, 2].to_i
          @f[:mday] = d[6, 2].to_i
          @f[:hour] = d[8, 2].to_i if d.size >= 10
          @f[:min] = d[10, 2].to_i if d.size >= 12
          @f[:sec] = d[12, 2].to_i if d.size >= 14
          @f[:_comp] = false
        end
      when 3
        if m[3].nil? && m[4]
          @f[:sec] = d[1, 2].to_i
          @f[:min] = d[0, 1].to_i
        else
          @f[:yday] = d.to_i
        end
      when 5
        if m[3].nil? && m[4]
          @f[:hour] = d[0, 1].to_i
          @f[:min] = d[1, 2].to_i
          @f[:sec] = d[3, 2].to_i
        else
          year.(d[0, 2])
          @f[:yday] = d[2, 3].to_i
        end
      when 7
        year.(d[0, 4])
        @f[:yday] = d[4, 3].to_i
        @f[:_comp] = false
      end
      if m[3]
        parts = m[3].scan(/../)
        @f[:hour] = parts[0].to_i
        @f[:min] = parts[1].to_i if parts[1]
        @f[:sec] = parts[2].to_i if parts[2]
      end
      @f[:sec_fraction] = Rational(m[4].to_i, 10**m[4].size) if m[4] && !m[4].empty?
      if m[5]
        if m[5][0] == "["
          zone, name = m[5][1..-2].split(":", 2)
          @f[:zone] = name || zone
          zone = "+" + zone if zone.match?(/\A\d/)
          @f[:offset] = Date.__send__(:zone_to_diff, zone)
        else
          @f[:zone] = m[5]
          @f[:offset] = Date.__send__(:zone_to_diff, m[5])
        end
      end
      true
    end

    def before_christ
      return unless take(/\b(bc\b|bce\b|b\.c\.|b\.c\.e\.)/i)
      @f[:year] = 1 - @f[:year] if @f[:year]
      @f[:cwyear] = 1 - @f[:cwyear] if @f[:cwyear]
    end

    # A lone small number is what is still missing: a day beside an hour, or an hour beside a day.
    def fragment
      return unless (m = /\A\s*(\d{1,2})\s*\z/.match(@text))
      n = m[1].to_i
      if @f.key?(:hour) && !@f.key?(:mday)
        @f[:mday] = n if n.between?(1, 31)
      elsif @f.key?(:mday) && !@f.key?(:hour)
        @f[:hour] = n if n.between?(0, 24)
      end
    end

    # Two-digit years belong to 1969..2068.
    def century
      return if @f[:_comp] == false || !@comp
      [:cwyear, :year].each do |k|
        n = @f[k]
        next unless n && n.between?(0, 99)
        @f[k] = n + (n >= 69 ? 1900 : 2000)
      end
    end
  end
  private_constant :Parser
end
