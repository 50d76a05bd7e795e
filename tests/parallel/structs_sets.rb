# Struct, Set, Data and instance variables shared by threads.
require "set"
def together(n)
  go = false
  ts = n.times.map { |i| Thread.new { Thread.pass until go; yield i } }
  go = true
  ts.map(&:value)
end
T = 6

S = Struct.new(:a, :b, :c, :d, :e, :f)
s = S.new(0, 0, 0, 0, 0, 0)
together(T) { |t| 800.times { |i| s[t] = i + 1 } }
p [:own_member, s.to_a]
together(T) { |t| 300.times { |i| s.a = t; s[:b] = t; s["c"] = t; s.to_a; s.inspect; s == s.dup; s.each { |x| x }; s.hash } }
p [:members, s.to_a.size]

set = Set.new
won = together(T) { |t| 600.times.count { |i| set.add?(i) } }
p [:add, won.sum, set.size]
won = together(T) { |t| 600.times.count { |i| set.delete?(i) } }
p [:delete, won.sum, set.size]
together(T) { |t| 50.times { |i| set.merge([[t, i], [t, -i - 1]]) } }
p [:merge, set.size]
together(T) { |t| 40.times { |i| set | [1]; set & [[0, 1]]; set.to_a.size; set.include?([0, 1]); set.subset?(set.dup) } }
p [:read, set.size]

class Bag; end
o = Bag.new
together(T) { |t| 60.times { |i| o.instance_variable_set("@v#{t}_#{i}", t * 1000 + i) } }
names = o.instance_variables
p [:new_ivars, names.size, names.uniq.size, names.all? { |n| t, i = n[2..].split("_").map(&:to_i); o.instance_variable_get(n) == t * 1000 + i }]

o = Bag.new
together(T) { |t| 40.times { |i| o.instance_variable_set("@v#{i}", t) } }
p [:same_ivars, o.instance_variables.size, o.instance_variables.all? { |n| (0...T).include?(o.instance_variable_get(n)) }]

class Wide
  attr_accessor :a, :b, :c, :d, :e, :f, :g, :h, :i, :j
  def fill(x)
    @a = x; @b = x; @c = x; @d = x; @e = x; @f = x; @g = x; @h = x; @i = x; @j = x
    self
  end
  def all = [@a, @b, @c, @d, @e, @f, @g, @h, @i, @j]
end
r = together(T) { |t| 150.times.map { |i| w = Wide.new; w.fill(t); w.all.uniq } .uniq }
p [:own_objects, r]
w = nil
r = 30.times.map { w = Wide.new; together(4) { |t| w.fill(t) }; w.all.all? { |x| (0..3).include?(x) } && w.instance_variables.size == 10 }
p [:shared_object, r.uniq]

# Reading and removing beside it.
o = Bag.new
together(T) do |t|
  150.times do |i|
    o.instance_variable_set("@x#{t}", i)
    o.instance_variable_get("@x#{(t + 1) % T}")
    o.instance_variables
    o.inspect
    o.dup.instance_variables
    begin
      o.remove_instance_variable("@x#{t}")
    rescue NameError
      p :lost
    end
  end
end
p [:removed, o.instance_variables]

# Instance variables of classes, of Strings and Arrays, class variables.
class Bag; @@count = 0; @m = nil; def self.v(k, x) = instance_variable_set(k, x); end
together(T) { |t| 60.times { |i| Bag.v("@c#{t}_#{i}", i); Bag.class_variable_set("@@d#{t}_#{i}", i) } }
p [:class_ivars, Bag.instance_variables.size, Bag.class_variables.size]
a = []
x = +"text"
together(T) { |t| 40.times { |i| a.instance_variable_set("@a#{t}_#{i}", i); x.instance_variable_set("@a#{t}_#{i}", i) } }
p [:generic, a.instance_variables.size, x.instance_variables.size]

D = Data.define(:x, :y)
r = together(T) { |t| 300.times.map { |i| d = D.new(x: t, y: i); d.with(y: d.y + 1).y - i }.uniq }
p [:data, r]
