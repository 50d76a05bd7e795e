t = Time.utc(2000, 1, 2, 3, 4, 5)
p t, t.year, t.wday, t.yday, t + 60, t - 3600, t - Time.utc(2000), t <=> t + 1, t == Time.utc(2000, 1, 2, 3, 4, 5), t.strftime("%d/%m/%y %I:%M %p %A %B %-d %e %H%%"), t.to_a, t.hour, t.min, t.sec, t.nsec, t.zone, t.utc_offset, t.sunday?, t.to_f, t.to_r
u = Time.new(2024, 12, 25, 10, 30, 0, "+09:00")
p u, u.utc_offset, u.getutc, u.to_i, u.strftime("%z %:z %s"), u.localtime("-02:00").hour, Time.at(1700000000, in: "UTC"), Time.at(1.5).utc.usec, Time.gm(1999, "dec", 31), Time.utc(2024, 2, 29).month, (Time.utc(2024, 3, 1) - 86400).day, Time.utc(2024, 1, 31).yday
p Time.utc(2024, 1, 1).strftime("%G-W%V %U %j %C %y %b %h %n%t|%10Y|%^a|%03d|%L|%N|%3N|%F %T|%R|%D|%c|%x|%X|%r|%P"), Time.now.class, (Time.now - Time.now).abs < 1, Time.utc(2000) < Time.utc(2001), [Time.utc(2001), Time.utc(2000)].min.year, Time.utc(2000, 1, 1, 12, 0, 0.123456789r).nsec, t.round.sec, t.hash == t.dup.hash, Time.utc(1960).to_i
