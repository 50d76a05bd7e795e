# Lines of cron tables: when they are due next, and what is wrong with them.
ENV["TZ"] = "Europe/Berlin"
require "kumihimo/cron"
from = Time.new(2026, 11, 26, 23, 30)
["* * * * *", "*/15 3 * * *", "0 9 * * mon-fri", "0 0 29 2 *", "0 0 1,15 * 5", "0 0 */2 * 5", "@daily", "@hourly", "@weekly", "@monthly", "@yearly",
 "5/20 * * * *", "30 4 1 jan *", "59 23 31 12 *", "0 12 * * 7", "0 12 * * 0", "1-5,50 0-6/2 * FEB sun,Wed"].each do |line|
  cron = Kumihimo::Cron.new(line)
  first = cron.next_after(from)
  puts "#{line}: #{first}, #{cron.next_after(first)}"
end

puts "-- the clock is put forward, and back"
spring = Kumihimo::Cron.new("30 2 * * *")
time = Time.new(2026, 3, 27, 12)
4.times { puts time = spring.next_after(time) }
time = Time.new(2026, 10, 23, 12)
4.times { puts time = spring.next_after(time) }
time = Time.new(2026, 10, 25, 1, 45)
half = Kumihimo::Cron.new("*/30 * * * *")
6.times { puts time = half.next_after(time) }

puts "-- wrong lines"
["* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "0 0 31 2 *", "0 0 30 feb *", "a * * * *", "5-1 * * * *",
 "*/0 * * * *", "*/x * * * *", "-1 * * * *", "1- * * * *", "", "1,, * * * *", "99999999999999999999 * * * *", "@never", nil, 5, :"* * * * *"].each do |line|
  puts "#{line.inspect}: #{Kumihimo::Cron.new(line)}"
rescue ArgumentError, TypeError => error
  puts error.message
end
p Kumihimo::Cron.new(" @Daily "), Kumihimo::Cron.new("@daily") == Kumihimo::Cron.new("@daily")
