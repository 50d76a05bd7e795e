# What `super` finds is kept; whatever changes the answer is seen by the next call.
class Base; def m = :base; def n = :n; end
module Log; def m = [:log, super]; end
class A < Base; include Log; end
class B < Base; include Log; def m = [:b, super]; end
ask = -> { 3.times.map { [A.new.m, B.new.m] }.uniq }
p ask.call
module Between; def m = [:between, super]; end
A.include Between
p ask.call
class Base; def m = :changed; end
p ask.call
Log.prepend(Module.new { def m = [:ahead, super] })
p ask.call
Between.remove_method :m
p ask.call
a = A.new
def a.m = [:single, super]
p 2.times.map { a.m }.uniq
a.extend(Module.new { def m = [:extended, super] })
p 2.times.map { a.m }.uniq
class Base; undef_method :m; end
p((A.new.m rescue $!.class))
class Base; def m = :back; end
p ask.call
# One body under several names and owners.
module Same; def x = [__method__, super]; end
class Up; def x = :x; def y = :y; end
class D1 < Up; include Same; end
class D2 < Up; define_method(:x, Same.instance_method(:x)) rescue p $!.class; include Same; alias y x; end
p 2.times.map { [D1.new.x, D2.new.x, D2.new.y] }.uniq
class E1 < Up; def x = [:e, super]; end
E2 = E1.clone
class E2; def z = x; end
p 2.times.map { [E1.new.x, E2.new.x, E2.new.z] }.uniq
# The same module twice in the order.
module Twice; def t = [:twice, (super rescue :end)]; end
class T0; include Twice; end
class T1 < T0; end
T1.prepend Twice
p 2.times.map { T1.new.t }.uniq
# Beside a thread that changes what is above.
class R0; def r = 0; end
class R1 < R0; def r = super; end
done = false
changer = Thread.new { i = 0; until done; i += 1; R0.define_method(:r) { i }; end }
o = R1.new
seen = 20_000.times.map { o.r }
done = true
changer.join
p seen.each_cons(2).all? { |x, y| x <= y }
R0.define_method(:r) { :last }
p o.r
