# Ractors compute beside each other and send what they find.
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
rs = 4.times.map { |i| Ractor.new(i) { |x| fib(14 + x) } }
p [:values, rs.map(&:value)]

port = Ractor::Port.new
rs = 4.times.map { |i| Ractor.new(port, i) { |out, x| 50.times { |k| out << [x, k] }; :sent } }
got = 200.times.map { port.receive }
p [:port, got.uniq.size, rs.map(&:value), 4.times.all? { |i| m = got.select { |x, _| x == i }.map(&:last); m == m.sort }]

r = Ractor.new { n = 0; while (x = Ractor.receive); n += x; end; n }
ts = 4.times.map { |t| Thread.new { 100.times { |i| r << i } } }
ts.each(&:join)
r << nil
p [:from_threads, r.value]

pipes = 3.times.map { Ractor.new { while (x = Ractor.receive) != :stop; x[0] << x[1] * 2; end; :stopped } }
back = Ractor::Port.new
60.times { |i| pipes[i % 3] << [back, i] }
p [:workers, 60.times.sum { back.receive }]
pipes.each { |x| x << :stop }
p [:stopped, pipes.map(&:value)]

moved = +"content"
r = Ractor.new { s = Ractor.receive; s << "!"; s }
r.send(moved, move: true)
p [:moved, r.value, begin; moved.size; rescue Ractor::MovedError => e; e.class; end]
shared = Ractor.make_shareable({ list: [1, 2, "three"], text: +"x" })
p [:shared, 4.times.map { Ractor.new(shared) { |s| s[:list].size + s[:text].size } }.map(&:value)]
r = Ractor.new { Thread.current.report_on_exception = false; raise "inside" }
p [:failed, begin; r.value; rescue Ractor::RemoteError => e; [e.class, e.cause.message]; end]
p [:selected, begin; a = Ractor.new { 1 }; b = Ractor.new { 2 }; x = [a, b]; v = []; until x.empty?; o, val = Ractor.select(*x); v << val; x.delete(o); end; v.sort; end]
