# What happens under a key of a store is told; a closed store and a forked child have nothing.
require "kumihimo/segments"
S = Kumihimo::Segments
s = S.connect(ARGV[0]); o = S.connect(ARGV[0])
w = s.watch("k")
# What is asked behind it on its connection is answered behind it.
s.size("k")
o.put("k", [1]); o.update("k", 2); o.take("k"); o.put("k", 3, ttl: 0.05)
5.times { p w.next(timeout: 60) }
(w.next(timeout: 0.05) rescue p $!.class)
seen = Thread::Queue.new
t = Thread.new { w.each { |e| seen << e } ; :over }
s.key("k").put(5)
p seen.pop
Thread.pass until t.stop?
w.close
p t.value
p seen.pop until seen.empty?
w2 = o.watch("k"); t = Thread.new { w2.next }
Thread.pass until t.stop?
o.close
p t.value
fork { (s.put("k", 1) rescue puts "#{$!.class}: #{$!.message}") }
Process.wait
p s.take("k")
(S.connect("unix:/nowhere/s", timeout: 2) rescue p $!)
