# Hashes shared by threads.
def together(n)
  go = false
  ts = n.times.map { |i| Thread.new { Thread.pass until go; yield i } }
  go = true
  ts.map(&:value)
end

T = 6
N = 800

h = {}
together(T) { |t| N.times { |i| h[t * N + i] = i } }
p [:store, h.size, h.values.sum, h.keys.uniq.size]

h = {}
together(T) { |t| N.times { |i| h["k#{i}"] = t } }
p [:same_keys, h.size, h.keys.all? { |k| k.frozen? }, h.values.all? { |v| (0...T).include?(v) }]

h = {}
together(T) { |t| N.times { |i| h[:"s#{i % 90}"] = t } }
p [:symbols, h.size]

h = (0...2000).to_h { |i| [i, i] }
won = together(T) { (0...2000).count { |i| h.delete(i) } }
p [:delete, won.sum, h]

h = (0...1200).to_h { |i| [i, i] }
got = together(T) { m = []; while (kv = h.shift); m << kv; end; m }.flatten(1)
p [:shift, got.size, got.to_h.size, h.empty?]

h = {}
together(T) { |t| 100.times { |i| h.merge!({ [t, i, 1] => 1, [t, i, 2] => 2 }) } }
p [:merge, h.size, h.values.sum]

h = {}
done = false
bad = 0
rd = Thread.new { until done; c = h.dup; bad += 1 unless [0, 4].include?(c.size); bad += 1 if c.values.uniq.size > 1; Thread.pass; end }
together(2) { |t| 400.times { |i| t == 0 ? h.replace({ a: i, b: i, c: i, d: i }) : h.clear } }
done = true
rd.join
p [:replace, bad]

h = {}.compare_by_identity
keys = 50.times.map { |i| "x" * (i % 3) }
together(T) { |t| keys.each { |k| h[k] = t } }
p [:identity, h.size]

# Objects with hash and eql? of their own.
Key = Struct.new(:n)
class Own
  attr_reader :n
  def initialize(n) = @n = n
  def hash = @n % 7
  def eql?(o) = o.is_a?(Own) && o.n == @n
end
h = {}
together(T) { |t| 120.times { |i| h[Key.new(i)] = t } }
p [:struct_keys, h.size]
h = {}
together(4) { |t| 60.times { |i| h[Own.new(t * 60 + i)] = i } }
p [:own_keys, h.size, h.values.sum]

# A default proc that stores: each answer is one that somebody stored.
h = Hash.new { |hash, k| hash[k] = [k] }
r = together(T) { |t| 300.times.map { |i| h[i % 100].first } }
p [:default_proc, h.size, r.flatten.tally.values.uniq]

# Adding while somebody walks is refused, or the walk came first or last.
h = (0...50).to_h { |i| [i, i] }
outcomes = together(4) do |t|
  60.times.map do |i|
    begin
      if t < 2
        h.each { |k, v| Thread.pass if k == 25 }
      else
        h[1000 + t * 60 + i] = 1
      end
      :ok
    rescue RuntimeError => e
      e.message
    end
  end
end.flatten.uniq
p [:walk, (outcomes - [:ok, "can't add a new key into hash during iteration"])]
added = h.keys.count { |k| k >= 1000 }
p [:walked, h.size == 50 + added, h.values.all?(Integer)]

# What exists may change while somebody walks.
h = (0...60).to_h { |i| [i, 0] }
r = together(4) do |t|
  40.times do |i|
    if t < 2
      h.each { |k, v| h[k] = v + 1 }
    else
      h[i] = i
      h.key?(i); h.fetch(i); h.to_a; h.values_at(1, 2); h.inspect; h.select { |k, v| v > 1 }; h.map { |k, v| k }; h.sort_by { |k, v| v }; h.hash; h == h.dup
    end
  end
  h.size
end
p [:update, r]
h = (0...400).to_h { |i| [i, i] }
together(4) { |t| t < 2 ? h.each { |k, v| h.delete(k) if v % 2 == 0 } : h.delete_if { |k, v| v % 3 == 0 } }
p [:delete_while, h.keys == (0...400).reject { |i| i % 2 == 0 || i % 3 == 0 }]
h = (0...200).to_h { |i| [i, i] }
together(4) { |t| begin; t < 2 ? h.rehash : h.compact!; rescue RuntimeError; end; h.transform_values!(&:itself) }
p [:rehash, h.size, h[199]]
