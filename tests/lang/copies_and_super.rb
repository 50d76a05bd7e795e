# `super`, `__callee__` and their like in copies of classes, modules and objects, and under other names.
def t(l)
  r = begin; yield; rescue Exception => e; "#{e.class}: "; end
  puts "#{l}: #{r.inspect}"
end
class A; def m(x = 1) = [:A, x]; def self.s = :As; def to_s = "A!"; end
class B < A; def m(x = 2) = [:B, super(), super]; def self.s = [:Bs, super]; define_method(:d) { |x| [:dB, x] } ; end
C = B.clone
D = B.dup
t("clone") { C.new.m }
t("dup") { D.new.m }
t("clone.s") { C.s }
t("dup.s") { D.s }
t("clone twice") { C.clone.clone.new.m(7) }
class E < C; def m(x=3) = [:E, super]; end
t("sub of clone") { E.new.m }
t("ancestors") { [C.ancestors.first(2), C.superclass, E.ancestors.first(3)] }
module M; def q = [:M, (super rescue :none)]; end
N = M.clone
class F; def q = :F; end
class G < F; include N; def q = [:G, super]; end
t("cloned module") { G.new.q }
class H < F; prepend N; def q = [:H, super]; end
t("cloned prepend") { H.new.q }
H2 = H.clone
t("clone of prepended") { H2.new.q }
t("clone ancestors") { H2.ancestors.first(3).map(&:to_s) }
class I < F; include M; prepend N; def q = [:I, super]; def initialize_copy(o) = super; end
I2 = I.dup
t("dup incl") { I2.new.q }
class J < A; def m(x = 5); [1].map { |y| super(y) }; end; end
t("block super in clone") { J.clone.new.m }
class K < A; define_method(:m) { |x = 6| [:K, super(x)] }; end
t("dm super in clone") { K.clone.new.m }
class L < A; def m(*) = super; alias z m; end
t("orig") { L.new.z(4) }
class P < A; def m(x=1) = [:P, super(x)]; end
um = P.instance_method(:m)
t("define_method um") { Class.new(P) { define_method(:m, um) }.new.m }
t("um bind") { um.bind(Class.new(P).new).call(3) }
t("method super_method clone") { C.new.method(:m).super_method.owner }
t("owner") { [C.instance_method(:m).owner == C, C.new.method(:m).owner == C] }
o = A.new; def o.m(x = 9) = [:sing, super]
t("singleton clone") { o.clone.m }
t("singleton clone twice") { o.clone.clone.m(2) }
t("singleton dup") { o.dup.m }
o2 = A.new; o2.extend(Module.new { def m(x = 8) = [:ext, super] })
t("extend clone") { o2.clone.m }
t("class-level extend") { c = Class.new(A) { extend Module.new { def s = [:ex, super] } }; [c.s, c.clone.s, c.dup.s] }
class Q < A; class << self; def s = [:Qs, super]; alias ss s; end; end
S1 = Struct.new(:a) { def a = [:x, super]; def to_s = "S" + super }
t("callee") { c = Class.new { def a = __callee__; alias b a; alias_method :c, :b; def d = [__method__, __callee__]; alias e d; define_method(:f) { [__method__, __callee__] }; alias g f; def h = [1].map { __callee__ }; alias i h; def j = yield; def k = send(:a); def l = method(:b).call; def m = :b.to_proc.call(self); def n = public_send(:c) }.new; [c.a, c.b, c.c, c.d, c.e, c.f, c.g, c.h, c.i, c.k, c.l, c.m, c.n] }
t("callee in super") { a = Class.new { def x = [__method__, __callee__]; alias y x }; b = Class.new(a) { def x = super; def y = super }; [b.new.x, b.new.y] }
t("callee toplevel") { __callee__ }
t("callee eval") { c = Class.new { def a = eval("__callee__"); alias b a; def c2 = binding.eval("__callee__"); alias d c2; def e = instance_eval { __callee__ }; alias f e; def g = [__callee__, tap { break __callee__ }]; alias h g }.new; [c.a, c.b, c.c2, c.d, c.e, c.f, c.h] }
t("callee mm") { c = Class.new { def method_missing(n, *a) = [__method__, __callee__, n] }.new; c.foo }
t("method name of alias") { c = Class.new { def a = 1; alias b a }; m = c.new.method(:b); [m.name, m.original_name, m.inspect =~ /b\(a\)/ ? 1 : 0] }
t("callee backtrace") { c = Class.new { def a = caller_locations(0,1)[0].label; alias b a }; c.new.b }
t("callee wrapped alias") { m = Module.new { def a = __callee__; alias b a }; c = Class.new { include m }; d = Class.new(c) { def a = super; alias z b }; [c.new.b, d.new.z, d.new.a, c.instance_method(:b).bind(c.new).call, c.instance_method(:b).bind_call(c.new)] }

# An alias goes on under the name its method was defined with, also in a copy (where CRuby 3.1 looks for the new name).
class T < A; def m(x = 1) = [__callee__, super]; alias mm m; end
p T.new.mm, T.clone.new.mm(3), T.new.method(:mm).super_method.name
class U < A; class << self; def s = [:Us, super]; alias ss s; end; end
p U.ss, U.clone.ss, U.dup.ss
p T.new.instance_eval { mm }, Class.new(T) { def n = defined?(super); alias m2 n }.new.m2
