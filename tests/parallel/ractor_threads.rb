# Threads that a Ractor begins are its own: they know it, are listed in it alone, and end with it.
r = Ractor.new(name: "mine") do
  t = Thread.new { [Ractor.current.name, Ractor.main?, Thread.list.size, Thread.new { Ractor.current.name }.value] }
  [t.value, Thread.list.size].flatten
end
p [:known, r.value, Thread.list.size]

port = Ractor::Port.new
r = Ractor.new(port) do |out|
  begun = Thread::Queue.new
  3.times { |i| Thread.new { begin; begun << i; sleep; ensure; out << [:ended, i]; end } }
  3.times { begun.pop }
  :done
end
p [:ended, r.value, 3.times.map { port.receive }.sort]

r = Ractor.new do
  100.times.map { |i| Thread.new(i) { |x| x * 2 } }.sum(&:value)
end
p [:many, r.value]

r = Ractor.new do
  inner = Ractor.new(name: "inner") { Thread.new { Ractor.current.name }.value }
  [inner.value, Thread.new { Ractor.count }.value]
end
p [:nested, r.value[0]]

class Own < Thread
  def initialize(x) = super { [x, Ractor.main?] }
end
p [:subclass, Ractor.new { Own.new(1).value + Thread.start(2) { |x| [x, Ractor.main?] }.value }.value]
all = 50.times.map { Ractor.new { Ractor.receive } }
all.each { |x| x.send(1) }
p [:count, all.sum(&:value)]
100.times { break if Ractor.count == 1; sleep 0.01 }
p Ractor.count
