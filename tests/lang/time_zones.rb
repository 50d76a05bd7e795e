# Clocks of zones at the hours that come twice or never, as CRuby tells them on Linux: of two the later one,
# or the earlier one where summer time is asked for; what is skipped counts on from before the gap.
def show(t) = "#{t.to_i} #{t.strftime("%F %T %z %Z")}#{" dst" if t.dst?}"

HOURS = {
  "America/New_York" => [[2023, 3, 12, 2], [2023, 11, 5, 1], [1974, 1, 6, 2], [1918, 10, 27, 1], [2040, 11, 4, 1]],
  "Europe/Berlin" => [[2024, 3, 31, 2], [2024, 10, 27, 2], [1945, 5, 24, 2], [1980, 4, 6, 2], [2040, 3, 25, 2]],
  "Europe/London" => [[1968, 2, 18, 2], [1971, 10, 31, 2], [2024, 10, 27, 1]],
  "Europe/Dublin" => [[1972, 3, 19, 2], [1971, 10, 31, 2]],
  "Australia/Lord_Howe" => [[2024, 4, 7, 1], [2024, 10, 6, 2]],
  "Pacific/Apia" => [[2011, 12, 30, 0], [2011, 12, 31, 0]],
  "Asia/Pyongyang" => [[2015, 8, 14, 23], [2018, 5, 4, 23]],
  "Europe/Moscow" => [[2010, 10, 31, 2], [2011, 3, 27, 2], [2014, 10, 26, 1]],
  "Asia/Kolkata" => [[1941, 10, 1, 0], [2024, 1, 1, 0]],
  "America/Sao_Paulo" => [[2017, 10, 15, 0], [2018, 2, 17, 23]],
  "EST5EDT,M3.2.0,M11.1.0" => [[2023, 3, 12, 2], [2023, 11, 5, 1], [1938, 7, 1, 0]],
  "NZST-12NZDT,M9.5.0,M4.1.0/3" => [[2040, 4, 1, 2], [2039, 9, 25, 2], [1938, 7, 1, 0]],
}
HOURS.each do |zone, hours|
  ENV["TZ"] = zone
  puts zone
  hours.each do |y, m, d, h|
    [0, 30].each do |min|
      first, second = Time.local(y, m, d, h, min), Time.local(0, min, h, d, m, y, nil, nil, true, nil)
      puts "  #{show(first)} | #{second == first ? "same" : show(second)}"
      raise "new" unless Time.new(y, m, d, h, min) == first
      raise "mktime" unless Time.mktime(0, min, h, d, m, y, nil, nil, false, nil) == first
      raise "localtime" unless Time.at(first.to_i).utc.localtime.to_a == first.to_a
      raise "getlocal" unless Time.at(first.to_i).utc.getlocal.to_a == first.to_a
      raise "in" unless Time.at(first.to_i, in: first.utc_offset).to_a[0, 6] == first.to_a[0, 6]
      raise "minus" unless first + 86_400 - 86_400 == first && (first + 3600).to_i - first.to_i == 3600
    end
  end
end

ENV["TZ"] = "America/New_York"
puts show(Time.local(2023, 11, 5) + 2 * 3600), show(Time.local(2023, 11, 5, 12) - 11 * 3600), show(Time.local(2023, 3, 12) + 2 * 3600)
[2**33, 2**40, 2**45, -2**33, -2**40, -2**62].each { |s| puts show(Time.at(s)) }
puts show(Time.at(0, in: "+09:00")), show(Time.local(9999, 7, 1)), show(Time.local(292_277, 7, 1)), show(Time.local(-5000, 7, 1))

# What TZ may say.
[nil, "", ":", "UTC", ":America/New_York", "EST5EDT", "JST-9", "<+0330>-3:30", "LMT-0:20:15", "EST25", "AB", "ABC", "Foo/Bar", "no/such/zone",
 "+5", "/usr/share/zoneinfo/../../../etc/passwd", "/etc", "/dev/zero", "../../../dev/tty", "asia/tokyo", "America/New_York\n", " UTC",
 "日本-9", "EST 5", "EST5EDT,M3.2.0", "a" * 5000].each do |tz|
  ENV["TZ"] = tz
  t = Time.at(1_690_000_000)
  puts "#{tz.inspect[0, 40]} #{t.zone[0, 20].inspect} #{t.utc_offset} #{t.dst?}" unless tz.nil?
end

# A time keeps what it has shown; one that has shown nothing goes by the zone of the moment it is asked.
ENV["TZ"] = "Asia/Tokyo"
shown = Time.at(0).tap(&:hour)
ENV["TZ"] = "America/New_York"
p shown.hour, Time.at(0).hour, shown.dup.localtime.hour
# The zones of the program itself, where the system has none.
ENV["TZDIR"] = "/no/such/folder"
ENV["TZ"] = "Europe/Berlin"
puts show(Time.local(2024, 10, 27, 2, 30))
ENV.delete("TZDIR")
# Threads look at once, while the zone changes.
zones = %w[Asia/Tokyo Europe/Berlin UTC]
threads = 4.times.map { Thread.new { 2000.times.map { Time.at(1_690_000_000).utc_offset }.uniq } }
300.times { |i| ENV["TZ"] = zones[i % 3] }
p (threads.flat_map(&:value).uniq - [32_400, 7200, 0])
