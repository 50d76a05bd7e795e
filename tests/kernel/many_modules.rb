# Thousands of modules in one order: as CRuby has it, and soon. A collection at each safepoint looks at all of them.
N = ENV["KUMI_GC_STRESS"] ? 40 : 3000
ms = Array.new(N) { |i| Module.new { define_method(:"m#{i}") { i }; define_method(:last) { [i, *(super() if defined?(super))].first(3) } } }
LAST = [N - 1, N - 2, N - 3]
c = Class.new
ms.each { |m| c.include(m) }
p c.ancestors.size - Object.ancestors.size == N + 1, c.ancestors[1].equal?(ms.last), c.new.last == LAST, c.new.m0, c.new.public_send(:"m#{N - 1}") == N - 1
o = Object.new
ms.each { |m| o.extend(m) }
p o.singleton_class.ancestors.index(ms[0]) == N, o.last == LAST
d = Class.new { def last = [:own] }
ms.each { |m| d.prepend(m) }
p d.ancestors.index(d) == N, d.new.last == LAST, d.ancestors.first.equal?(ms.last)
all = Module.new
ms.reverse_each { |m| all.include(m) }
e = Class.new(c) { include all }
p e.ancestors.size == c.ancestors.size + 2, Class.new { include all }.ancestors[2].equal?(ms[0])
