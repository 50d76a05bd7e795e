# Taking from one Array by many threads: every element goes to exactly one taker.
def together(n)
  go = false
  ts = n.times.map { |i| Thread.new { Thread.pass until go; yield i } }
  go = true
  ts.map(&:value)
end

T = 6
def all_once(name, n = 6000)
  a = (1..n).to_a
  got = together(T) { mine = []; while (x = yield a); mine.concat(Array(x)); end; mine }.flatten
  p [name, got.size, got.sum, got.uniq.size, a]
end

all_once(:pop) { |a| a.pop }
all_once(:shift) { |a| a.shift }
all_once(:shift_many) { |a| x = a.shift(3); x.empty? ? nil : x }
all_once(:pop_many) { |a| x = a.pop(5); x.empty? ? nil : x }
all_once(:delete_at, 1500) { |a| a.delete_at(a.size / 2) || a.shift }
all_once(:slice, 1500) { |a| x = a.slice!(0, 2); x.nil? || x.empty? ? nil : x }

# Each value is deleted by one of all who try.
a = (0...400).to_a
won = together(T) { (0...400).count { |x| a.delete(x) } }
p [:delete, won.sum, a]

# Half put in, half take out.
a = []
left = 3 * 1500
sums = together(T) do |t|
  if t < 3
    1500.times { |i| a << i + 1 }
    0
  else
    s = n = 0
    while n < 1500
      if (x = a.shift)
        s += x
        n += 1
      else
        Thread.pass
      end
    end
    s
  end
end
p [:conveyor, sums.sum, a.size]
