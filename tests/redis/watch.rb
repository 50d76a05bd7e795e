# What happens under a key of a store is told; a closed store and a forked child have nothing.
require "kumihimo/segments"
S = Kumihimo::Segments
s = S.connect(ARGV[0]); o = S.connect(ARGV[0])
w = s.watch("k")
sleep 0.1
o.put("k", [1]); o.update("k", 2); o.take("k"); o.put("k", 3, ttl: 0.05)
5.times { p w.next(timeout: 5) }
(w.next(timeout: 0.05) rescue p $!.class)
t = Thread.new { w.each { |e| p e } ; :over }
sleep 0.05
s.key("k").put(5)
sleep 0.2
w.close
p t.value
w2 = o.watch("k"); t = Thread.new { w2.next }
sleep 0.05
o.close
p t.value
fork { (s.put("k", 1) rescue puts "#{$!.class}: #{$!.message}") }
Process.wait
p s.take("k")
(S.connect("unix:/nowhere/s", timeout: 0.2) rescue p $!)
