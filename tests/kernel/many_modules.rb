# Thousands of modules in one order: as CRuby has it, and soon.
ms = Array.new(3000) { |i| Module.new { define_method(:"m#{i}") { i }; define_method(:last) { [i, *(super() if defined?(super))].first(3) } } }
c = Class.new
ms.each { |m| c.include(m) }
p c.ancestors.size - Object.ancestors.size, c.ancestors[1].equal?(ms.last), c.new.last, c.new.m0, c.new.m2999
o = Object.new
ms.each { |m| o.extend(m) }
p o.singleton_class.ancestors.index(ms[0]), o.last
d = Class.new { def last = [:own] }
ms.each { |m| d.prepend(m) }
p d.ancestors.index(d), d.new.last, d.ancestors.first.equal?(ms.last)
all = Module.new
ms.reverse_each { |m| all.include(m) }
e = Class.new(c) { include all }
p e.ancestors.size == c.ancestors.size + 2, Class.new { include all }.ancestors[2].equal?(ms[0])
