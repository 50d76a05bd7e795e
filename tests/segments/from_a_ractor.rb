# A Ractor may be the first that uses code segments: what runs them is the program's, and goes on when the Ractor has ended.
require "kumihimo/segments"
ds = Kumihimo::Segments.local
r = Ractor.new do
  run = Kumihimo::Segments.when(take: "early") { |x| put "seen", [x, Ractor.main?] }
  Kumihimo::Segments.local.put("early", 1)
  run.join(timeout: 20)
  Kumihimo::Segments.local.put("short", 1, ttl: 0.01)
  Kumihimo::Segments.local.put("late", 2, not_before: 0.05)
  :ended
end
p r.value, ds.take("seen", timeout: 20)
p ds.take("late", timeout: 20)
run = Kumihimo::Segments.when(take: "after") { |x| put "seen", x + 1 }
ds.put("after", 2)
run.join(timeout: 20)
p ds.take("seen", timeout: 20), ds.take?("short")
