# Classes change while others call them.
def together(n)
  go = false
  ts = n.times.map { |i| Thread.new { Thread.pass until go; yield i } }
  go = true
  ts.map(&:value)
end
T = 5

class Base
  def stable = :stable
  def flip = 0
end
class Sub < Base; end

done = false
callers = 3.times.map do
  Thread.new do
    seen = []
    o = Sub.new
    until done
      seen << o.flip unless seen.include?(o.flip)
      raise "lost" unless o.stable == :stable
      Thread.pass
    end
    seen.all? { |x| x.is_a?(Integer) }
  end
end
120.times { |i| Base.class_eval("def flip = #{i}"); Thread.pass }
120.times { |i| Sub.define_method(:flip) { i }; Thread.pass }
40.times { Sub.send(:remove_method, :flip); Sub.define_method(:flip) { 5 }; Thread.pass }
done = true
p [:redefine, callers.map(&:value)]

# Methods defined by all threads are all there.
class Many; end
together(T) { |t| 60.times { |i| Many.define_method("m#{t}_#{i}") { t * 100 + i } } }
m = Many.new
p [:define, Many.instance_methods(false).size, T.times.sum { |t| 60.times.sum { |i| m.send("m#{t}_#{i}") } }]
together(T) { |t| 40.times { |i| Many.class_eval("def e#{t}_#{i} = #{i}\ndef self.s#{t}_#{i} = #{i}") } }
p [:eval, Many.instance_methods(false).size, Many.singleton_methods.size]
together(T) { |t| 60.times { |i| Many.send(:remove_method, "m#{t}_#{i}") } }
p [:remove, Many.instance_methods(false).size]
together(T) { |t| 30.times { |i| Many.alias_method("a#{t}_#{i}", :e0_0); Many.attr_accessor("x#{t}_#{i}"); Many.send(:private, "a#{t}_#{i}") } }
p [:alias, Many.private_instance_methods(false).size, m.x0_0 = 1, m.x0_0]

# undef: callers get the method or NoMethodError, nothing else.
class Gone
  def there = 1
end
done = false
r = 2.times.map do
  Thread.new do
    g = Gone.new
    kinds = []
    until done
      k = begin
        g.there
      rescue NoMethodError
        :missing
      end
      kinds |= [k]
      Thread.pass
    end
    kinds - [1, :missing]
  end
end
100.times { Gone.send(:undef_method, :there); Gone.class_eval { def there = 1 }; Thread.pass }
done = true
p [:undef, r.map(&:value)]

# Modules come in under callers; super finds its way.
class Tower
  def up = [:tower]
end
mods = 30.times.map { |i| Module.new { define_method(:up) { super() + [i] } } }
done = false
bad = 0
r = 2.times.map do
  Thread.new do
    t = Tower.new
    until done
      u = t.up
      bad += 1 unless u[0] == :tower && u.uniq.size == u.size
      Thread.pass
    end
  end
end
mods.each { |x| Tower.prepend(x); Thread.pass }
done = true
r.each(&:join)
p [:prepend, bad, Tower.new.up.size, Tower.ancestors.size - Object.ancestors.size]
inc = 40.times.map { |i| Module.new { define_method("inc#{i}") { i } } }
together(4) { |t| inc.each_slice(10).to_a[t].each { |x| Tower.include(x) } }
p [:include, 40.times.sum { |i| Tower.new.send("inc#{i}") }, (Tower.ancestors & inc).size]

# Reopening one class from all threads.
together(T) { |t| 30.times { |i| eval("class Reopened\n def r#{t}_#{i} = 1\n R#{t}_#{i} = #{i}\nend") } }
p [:reopen, Reopened.instance_methods(false).size, Reopened.constants.size]
together(T) { |t| 30.times { |i| eval("class Fresh#{i}\n def r#{t} = 1\nend") } }
p [:race_to_make, 30.times.all? { |i| Object.const_get("Fresh#{i}").instance_methods(false).size == T }]
kept = together(T) { |t| 30.times.map { Class.new(Reopened) } }
p [:subclasses, kept.flatten.uniq.size, Reopened.subclasses.size]

# Singletons, method_missing, respond_to?, extend, refinements of operators.
class Ghost
  def method_missing(n, *a) = n.start_with?("g") ? [n, *a] : super
  def respond_to_missing?(n, priv = false) = n.start_with?("g")
end
g = Ghost.new
r = together(T) { |t| 60.times.all? { |i| g.send("g#{i}", t) == [:"g#{i}", t] && g.respond_to?("g#{i}") && !g.respond_to?("h#{i}") } }
p [:missing, r]
objs = 20.times.map { Object.new }
together(T) { |t| objs.each { |o| o.define_singleton_method("s#{t}") { t } } }
p [:singleton, objs.all? { |o| o.singleton_methods.size == T && o.s3 == 3 }]
together(T) { |t| objs.each { |o| o.extend(Comparable, Enumerable) } }
p [:extend, objs.all? { |o| o.singleton_class.include?(Enumerable) }]
hooks = Queue.new
H = Module.new { define_singleton_method(:included) { |c| hooks << c } }
together(T) { |t| 20.times { Class.new { include H } } }
p [:hooks, hooks.size]

done = false
r = 2.times.map { Thread.new { ok = true; until done; ok &&= 1 + 2 == 3; Thread.pass; end; ok } }
class Integer
  alias plain_plus +
end
8.times { class Integer; def +(o) = plain_plus(o); end; Thread.pass; class Integer; alias + plain_plus; end }
done = true
p [:operators, r.map(&:value)]
