# Formats of dates: the same whether they are new or known, and long ones as quick as short ones.
require "date"
t = DateTime.new(2021, 3, 4, 5, 6, Rational(15, 2), "+09:30")
formats = ["%Y-%m-%d %H:%M:%S.%L %z", "%-d/%_m/%y %%%", "%^a %#B %10Y|%-10d|%010d|%_5H", "%::z %:z %:::z %EY %Od %Ea", "%", "%5", "%q %é é%d", "", "%j %U %W %V %G %u %w %C", "%c|%x|%X|%D|%F|%T|%R|%r|%v|%+", "%s %Q %N %3N %12N %P %p %I %l %k", "%E%d %O %:%d"]
2.times { formats.each { |f| p t.strftime(f), Date.new(-5, 1, 1).strftime(f) } }
p Date.new(2001, 2, 3).to_s.encoding, Date.new(2001, 2, 3).strftime("%d".encode("US-ASCII")).encoding, Date.new(12345, 1, 1).to_s, Date.new(-1, 1, 1).iso8601
2.times do
  [["2001-02-03", "%Y-%m-%d"], ["20010203", "%Y%m%d"], ["3 Feb 2001 x", "%d %b %Y x"], ["2001 034", "%Y\t%j"], ["Sat3rd", "%a%drd"], ["12%3", "%m%%%d"], ["010203", "%y%m%d"], ["2001-W05-6", "%G-W%V-%u"], ["5 PM", "%I %p"], ["1.5", "%s.%L"], ["x", "%q"], ["é1", "é%d"], ["2001-02-03", "%Y-%m"], ["1 2", "%E%d"]].each { |text, format| p Date._strptime(text, format) }
end
# A collection at each safepoint looks at all of it.
n = ENV["KUMI_GC_STRESS"] ? 100 : 100_000
p Date.new(2001, 2, 3).strftime("%d-" * n).size == 3 * n, Date._strptime("1 " * n, "%d " * n)
ds = [Date.new(2001, 2, 3), DateTime.new(2001, 2, 3), DateTime.new(2001, 2, 3, 9, 0, 0, "+9"), DateTime.new(2001, 2, 2, 12)]
p ds.product(ds).map { |a, b| [a <=> b, a.eql?(b), a.hash == b.hash, a == b] }, ds.map { |d| d - ds[0] }, ds.uniq.size
p [[2000, 2, 29], [1900, 2, 29], [2001, 4, 31], [2001, 12, 31], [1582, 10, 10], [1582, 10, 15], [1582, 10, 4], [1500, 2, 29], [2001, 2, -1], [2001, -1, 31]].map { |a| [Date.valid_date?(*a), Date.valid_date?(*a, Date::GREGORIAN), Date.valid_date?(*a, Date::JULIAN)] }
d = Date.new(2001, 2, 3).freeze
p d.year, d.month, (d + 1).to_s, (d >> 1).to_s, d.next.day, d + 0.5, d - 1
