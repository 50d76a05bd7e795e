# fibers that hold private values across window collections, threads that park inside fibers, and fibers that die
def deep(n, &b) = n == 0 ? b.call("d#{n}") : [deep(n - 1, &b), "r#{n}"]
ths = 4.times.map do |t|
  Thread.new do
    q = Queue.new
    sum = 0
    fs = 20.times.map do |k|
      Fiber.new do |x|
        mine = ["f#{k}", x, { "k#{x}" => [x.to_s] }]
        loop do
          y = Fiber.yield(mine.flatten.inspect)
          mine = [mine[0], y, { "k#{y}" => ["#{y}"] }]
          Thread.pass if k % 5 == 0
          q << ["m#{y}"] if k % 7 == 0
          deep(k * 5) { |s| 30.times { |z| "#{s}#{z}" }; Fiber.yield(s * 2) if k % 3 == 0; s } if k.odd?
        end
      end
    end
    300.times do |i|
      f = fs[i % 20]
      r = f.resume(i)
      sum += r.size
      sum += q.pop[0].size until q.empty?
      fs[i % 20] = Fiber.new { |x| Fiber.yield(["n#{x}"].inspect); ["o"].inspect; loop { Fiber.yield("p#{x}") } } if i % 37 == 0
      Thread.pass if i % 11 == 0
      100.times { |z| [z, "g#{z}"] } if i % 3 == 0
    end
    e = Enumerator.new { |y| 50.times { |z| y << ["e#{z}", [z]] } }
    50.times { |z| raise "bad #{z}" unless e.next == ["e#{z}", [z]] }
    Thread.current[:x] = ["local#{t}"]
    Fiber[:st] = ["st#{t}"]
    sum
  end
end
r = ths.map(&:value)
p r.uniq.size, r.first > 1000, ths.map { |t| t[:x] }
s = Thread.new { Fiber.new { Thread.new { Fiber[:a] = ["b"]; Fiber.new { Fiber[:a] }.resume }.value }.resume }.value
p s
f = nil
Thread.new { f = Fiber.new { Fiber.yield ["z" * 30]; 1 }; f.resume }.join
GC.start
begin; f.resume; rescue FiberError; puts "FiberError"; end
"abc" =~ /(b)/
p 100.times.map { |i| deep(300) { |x| "x#{i}" =~ /x(\d+)/; $1 } && 1 }.sum
lz = (1..Float::INFINITY).lazy.map { |x| ["l#{x}"] }.select { |x| x[0].size > 2 }
p lz.first(3)
