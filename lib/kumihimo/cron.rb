# frozen_string_literal: true

module Kumihimo
  # A line as in crontab(5): minute, hour, day of the month, month, day of the week; or @hourly, @daily, @weekly, @monthly, @yearly.
  # Each field is `*`, a number, a name (jan, mon), a range `1-5`, a list `1,15`, and any of these in steps `*/10`. Where both days
  # are given, one of them is enough.
  #
  # Times are local. A time that the clock skips in spring is taken an hour later; one that comes twice in autumn, once. A line of
  # every hour goes by real hours.
  class Cron
    NAMED = {
      "@yearly" => "0 0 1 1 *", "@annually" => "0 0 1 1 *", "@monthly" => "0 0 1 * *", "@weekly" => "0 0 * * 0",
      "@daily" => "0 0 * * *", "@midnight" => "0 0 * * *", "@hourly" => "0 * * * *"
    }.freeze
    MONTHS = %w[jan feb mar apr may jun jul aug sep oct nov dec].each.with_index(1).to_h.freeze
    DAYS = %w[sun mon tue wed thu fri sat].each_with_index.to_h.freeze
    # A 29th of February may be eight years away.
    FAR = 8 * 366 + 1
    private_constant :NAMED, :MONTHS, :DAYS, :FAR

    # Raises ArgumentError, which says what is wrong with the line.
    def initialize(line)
      @line = String(line).strip.dup.freeze
      fields = NAMED.fetch(@line.downcase, @line).split
      raise wrong("it needs 5 fields (minute, hour, day, month, day of the week), not #{fields.size}") unless fields.size == 5
      @minutes = field(fields[0], 0..59, {}, "minute")
      @hours = field(fields[1], 0..23, {}, "hour")
      @days = field(fields[2], 1..31, {}, "day of the month")
      @months = field(fields[3], 1..12, MONTHS, "month")
      @weekdays = field(fields[4], 0..7, DAYS, "day of the week").map { |day| day % 7 }.uniq
      @any_day, @any_weekday = fields[2].start_with?("*"), fields[4].start_with?("*")
      raise wrong("there is no such day") unless next_after(Time.new(2000, 1, 1))
    end

    # The first time after this one at which it is due, a Time.
    def next_after(time)
      found = soon(time) if @hours.size == 24
      return found if found
      year, month, day = time.year, time.month, time.day
      FAR.times do
        if due_on?(year, month, day)
          found = first_on(year, month, day, time)
          return found if found
        end
        year, month, day = day_after(year, month, day)
      end
      nil
    end

    def to_s = @line
    def inspect = "#<#{self.class} #{@line}>"
    def ==(other) = other.is_a?(Cron) && other.to_s == @line
    alias eql? ==
    def hash = @line.hash

    private

    def wrong(why) = ArgumentError.new("cron line #{@line.inspect}: #{why}")

    def field(text, range, names, what)
      text.split(",", -1).flat_map do |part|
        body, step = part.split("/", 2)
        step = step ? number(step, 1..range.end, {}, what) : 1
        first, last = range.begin, range.end
        if body != "*"
          low, high = body.to_s.split("-", 2)
          first = number(low, range, names, what)
          last = high ? number(high, range, names, what) : (part.include?("/") ? range.end : first)
          raise wrong("#{body} of the #{what} runs backwards") if last < first
        end
        (first..last).step(step).to_a
      end.uniq.sort
    end

    def number(text, range, names, what)
      value = names[text.to_s.downcase] || (text.to_s.match?(/\A\d{1,4}\z/) ? text.to_i : nil)
      return value if value && range.cover?(value)
      raise wrong("#{text.inspect} is no #{what}, which is #{range.begin} to #{range.end}")
    end

    def days_in(year, month)
      return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 if month == 2
      [4, 6, 9, 11].include?(month) ? 30 : 31
    end

    def day_after(year, month, day)
      return [year, month, day + 1] if day < days_in(year, month)
      month == 12 ? [year + 1, 1, 1] : [year, month + 1, 1]
    end

    def due_on?(year, month, day)
      return false unless @months.include?(month)
      of_month = @days.include?(day)
      of_week = @weekdays.include?(Time.utc(year, month, day).wday)
      @any_day || @any_weekday ? of_month && of_week : of_month || of_week
    end

    # In the hour from then on.
    def soon(time)
      first = Time.at(time.to_i / 60 * 60)
      (1..60).each do |minutes|
        at = first + minutes * 60
        return at if @minutes.include?(at.min) && due_on?(at.year, at.month, at.day)
      end
      nil
    end

    def first_on(year, month, day, after)
      @hours.each do |hour|
        next if [year, month, day, hour] == [after.year, after.month, after.day, after.hour] && @minutes.last <= after.min
        @minutes.each do |minute|
          time = Time.new(year, month, day, hour, minute)
          return time if time > after
        end
      end
      nil
    end
  end
end
