# `retry` in a rescue modifier runs its expression again, wherever the modifier stands.
n = 0
x = (n += 1; raise "a" if n < 3; n) rescue retry
p x
n = 0
y = (n += 1; raise "a" if n < 3; n) rescue (p [:again, n]; retry)
p y, $!
def tries(limit)
  n = 0
  (n += 1; raise "once more" if n < limit; "after #{n}") rescue (n < 10 ? retry : "gave up")
end
p tries(4), tries(50)
begin
  n = 0
  raise "outer"
rescue
  outer = $!.message
  (n += 1; raise "inner" if n < 2) rescue retry
  p n, outer, $!.message
end
n = 0
[1].each { (n += 1; raise "in a block" if n < 5) rescue retry }
p n
def ensured
  n = 0
  begin
    (n += 1; Integer(n < 3 ? "x" : "7")) rescue retry
  ensure
    p [:ensured, n]
  end
end
p ensured
