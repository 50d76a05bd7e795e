# Threads build large graphs of all kinds and hand them to others, by a queue, a segment that moves, and an array that is shared already: what arrives is what was built,
# while the nursery of who built it is collected.
seed, rounds = 1, 3
require "set"
P = Struct.new(:a, :b, :c)
D = Data.define(:x, :y)
class Many; def initialize(vs) = vs.each_with_index { |v, i| instance_variable_set(:"@v#{i}", v) }; def vs = instance_variables.map { |n| instance_variable_get(n) }; end
class WithProc; attr_reader :f, :s; def initialize(x) = (@f = ->(y) { [x, y] }; @s = "own#{x}"); end
def build(r, n)
  all = []
  pick = -> { all.empty? ? r.rand(9) : all[-1 - r.rand([all.size, 2000].min)] }
  n.times do |i|
    all << case r.rand(14)
      when 0 then "s#{i}"
      when 1 then "long" * 30 + i.to_s
      when 2 then [pick.(), i, pick.()]
      when 3 then { id: pick.(), "k#{i}" => pick.() }
      when 4 then P.new(pick.(), i, pick.())
      when 5 then D.new(x: pick.(), y: "d#{i}")
      when 6 then Many.new(Array.new(r.rand(12)) { pick.() })
      when 7 then WithProc.new(i)
      when 8 then (i..i + 5)
      when 9 then Set[i, "e#{i}"]
      when 10 then 1 << (64 + r.rand(9))
      when 11 then i * 1.1e200
      when 12 then h = Hash.new { |hh, k| k }; h[i] = pick.(); h
      else Array.new(r.rand(40)) { pick.() }
    end
  end
  long = Array.new(r.rand(3) * 5000) { pick.() }
  table = Hash.new; (r.rand(2) * 5000).times { |i| table[i] = pick.() }
  [all.last(1 + r.rand(all.size)), long, table]
end
# A number that tells the graph, by a walk that meets each cell once.
def tell(root)
  seen = {}.compare_by_identity; grey = [root]; sum = 0
  until grey.empty?
    v = grey.pop
    case v
    when Integer then sum = (sum * 31 + v) & 0xffff_ffff
    when Float then sum = (sum * 31 + v.to_s.sum) & 0xffff_ffff
    else
      next if seen[v]
      seen[v] = true
      case v
      when String then sum = (sum * 31 + v.sum + v.size) & 0xffff_ffff
      when Array then grey.concat(v)
      when Hash then v.each { |k, x| grey << k << x unless Symbol === k; grey << x if Symbol === k }
      when P then grey << v.a << v.b << v.c
      when D then grey << v.x << v.y
      when Many then grey.concat(v.vs)
      when WithProc then grey << v.s << v.f.call(3)[0]
      when Range then grey << v.begin << v.end
      when Set then grey.concat(v.to_a)
      else raise "what is #{v.class}?"
      end
    end
  end
  [sum, seen.size]
end
require "kumihimo/segments"
ds = Kumihimo::Segments.local
q = Queue.new
producers = Array.new(2) do |t|
  Thread.new do
    r = Random.new(seed * 100 + t)
    rounds.times do |i|
      g = build(r, [300, 5000, 20_000][i % 3])
      told = tell(g)
      case i % 3
      when 0 then q << [:direct, g, told]
      when 1 then ds.put("g#{t}.#{i}", g, move: true); q << [:taken, "g#{t}.#{i}", told]
      else holder = [nil]; q << [:held, holder, told]; holder[0] = g; holder << :done
      end
      g = nil
      # Its nursery is collected.
      20.times { |k| Array.new(500) { |j| "garbage#{k}#{j}" } }
    end
    q << nil
  end
end
bad = 0; n = 0
consumers = Array.new(2) do
  Thread.new do
    while (m = q.pop)
      kind, g, told = m
      g = ds.take(g) if kind == :taken
      if kind == :held
        Thread.pass until g.size == 2
        g = g[0]
      end
      got = tell(g)
      n += 1
      (bad += 1; warn "#{kind}: #{told} is #{got}") if got != told
    end
  end
end
(producers + consumers).each(&:join)
puts "graphs: #{n}, others than they were: #{bad}"
