nil; true; false; self; 1; 1_000; 0x1f; 0b11; 0o17; 1.5; 1e10; 3r; 2i; 1.5ri; -7; 123456789012345678901234567890; 0xffffffffffffffffffffffff
----
:a; :"a b"; :"a#{1}"; %s(x); 'a'; "b\n"; "a" "b"; "a" "b#{1}"; ?a; %w[a b]; %W[a#{1} b]; %i[a b]; %I[a#{1}]; `ls`; `ls #{1}`
----
a = <<~X
  one #{1}
    two
X
----
/a/; /a/imx; /a#{1}/; /a#{1}/o; /é/u; /a/n; if /x/ then 1 end; if /x#{1}/ then 1 end
----
[]; [1, 2]; [*1..2]; [1, *a, 2, *b]; [1, a: 2]; {}; {a: 1}; {"a" => 1, b => 2}; {**h}; {a: 1, **h, b: 2}; x = 1; {x:}
----
1..2; 1...2; (1..); (..2); a..b; ("a".."b"); (nil..nil)
----
a = 1; a += 1; a -= 2; a *= a; a ||= 1; a &&= 2; a **= 2; a <<= 1; a = a && b; a = b || a
----
@a = 1; @a; @a += 1; @a ||= 1; @a &&= 1; @@a = 1; @@a; @@a ||= 1; @@a += 1; $a = 1; $a; $a ||= 1; $a += 1; $a &&= 1
----
A = 1; A; A::B; ::C; A::B = 1; ::D = 2; A ||= 1; A::B ||= 1; ::E ||= 3; A::B += 1; A &&= 1; self::F = 1
----
a.b = 1; a.b += 1; a.b ||= 1; a.b &&= 1; a&.b = 1; a&.b ||= 1; a&.b += 1; self.c = 1; a[1] = 2; a[1] += 2; a[1] ||= 2; a[1, 2] = 3; a[*x] = 1; a[1, 2] ||= 3; a[*x] += 1; a[] = 1; a[] ||= 2
----
x = (a.b = 1); y = (a[1] = 2); z = (a[1, 2] = 3); w = (a[*x] = 4); v = (a&.b = 5)
----
a, b = 1, 2; a, b = b, a; a, (b, *c), d = 1, [2, 3], 4; *a, b = x; a, *b = x; a, * = x; (a, b), c = x; @a, $b, C, d.e, f[1], f[1, 2], g::H = x; a = b, c; a = *b; a, b = *x, 1; x = (a, b = 1, 2); a, = x
----
foo; foo(); foo 1; foo(1, *a, 2); foo(a: 1); foo(a: 1, **h); foo(**h); foo("a" => 1); foo(&b); foo(&:sym); foo(1) { |x| x }; foo.bar.baz; foo&.bar; foo&.bar(1) { 2 }; foo.(1); foo::bar; foo.!; !foo; not foo; -foo; +foo; ~foo; foo !~ 1; foo =~ 1; a <=> b; a === b; a ** b; foo(a: 1, a: 2)
----
x = foo 1, 2 do |a, b| a end
----
def a; end; def b(x) x end; def c(x, y = 1, *z, w, k:, l: 2, **o, &b) [x, y, z, w, k, l, o, b] end; def self.d; end; def foo.e; end; def f(x) = x + 1; def g((a, b), c = a, (d, *e)) [a, b, c, d, e] end; private def h; end; def i(**nil); end; def j(*, **, &) k(*, **, &) end; def k(...) foo(...) end; def l(a, ...) = foo(1, a, ...); proc { |&b| foo(&b) }; def r(&) = [1].each { foo(&) }; def a=(x); end; def []=(a, b); end; def +(o) = 1; def n(*) = [1].each { foo(*) }
----
def a(x, y = 1, *z, w, k:, l: 2, **o, &b) super end; def b; super() end; def c(x) super(1, *x, &nil) end; def d(x) [1].each { super } end; def e(*) = super; def f(x) super { 1 } end; def g((a, b), c) super end; def h(...) = super; def i(k:) = super; def j = super
----
def a; yield; yield 1, 2; yield(*x); yield a: 1; x = yield; block_given? end
----
-> { }; ->(x) { x }; ->(x, y = 1, *z, k: 1, **o, &b) { }; -> x do x end; lambda { |x| return x }; proc { |x, (y, z), *w| next x }; [1].each { |a; b| b = a }; [1].each { _1 + _2 }; [1].each { it }; proc { |a,| a }; proc { |*a, b| }; -> { _1 }; proc { [1].each { it } + it }
----
if a then b end; if a then b else c end; if a then 1 elsif b then 2 else 3 end; unless a then b else c end; a ? b : c; a if b; a unless b; x = if a then 1 end; x = (1 if nil)
----
while a do b end; until a do b end; begin; 1; end while a; begin; 2; end until a; x while y; loop { break }; loop { break 1, 2 }; while true; break 3; next; redo; end; x = while a do break 5 end; for i in 1..2 do p i end; for a, b in x do end; for *a in x do end; for @a in x; end; for a.b in x; break 1; next; end; for a, (b, *c), *d in x do foo { a } end
----
case a when 1 then 2 when 3, 4 then 5 else 6 end; case when a then 1 when b, c then 2 end; case a when *b then 1 when 1, *c then 2 end; case when *b then 1 end; x = case a when Integer then 1 end
----
case a; in 1 then 1; in Integer => x then x; in [a, b] then a; in [a, *b, c] then b; in [*, 1, *post] then 1; in {a: 1, b:} then b; in {a: Integer => q, **rest} then rest; in {a:, **nil} then a; in {} then 1; in [] then 2; in A(x, y) then x; in A[x] then x; in A(x:) then x; in 1 | 2 then 1; in ^a then 1; in ^@b then 1; in ^(1 + 2) then 3; in nil then 4; in 1.. then 5; in "a" then 6; in /x/ then 7; in ->(z) { z } then 8; in x if x > 1 then 9; in x unless x then 10; in [Integer, [String, *]] then 11; in a, b then 12; in a: then 13; else 14 end
----
x => Integer; x => {a:}; x => [a, *]; x in Integer; x in {a: [b, *]}; if x in [a] then a end; y = (x in 1); case x; in {a: 1} then 2 end; case [0, 1]; in [a, b] unless a == b then 1 end; x => 1 | 2 rescue 1
----
begin; a; rescue; b; end; begin; a; rescue A, B => e; b; rescue *C => @d; c; else; d; ensure; e; end; begin; a; ensure; b; end; a rescue b; x = (a rescue b); x = begin; a; rescue; b; end; def m; a; rescue; retry; ensure; c; end; begin; rescue => a.b; rescue => a[1]; end
----
def m; begin; return 1; ensure; return 2; end; end; def n; while true; begin; break; ensure; a; end; end; end; def o; [1].each { begin; next 1; ensure; a; end }; end; def p; [1].each { begin; return 1; rescue; break 2; ensure; b; end }; end; def q; begin; begin; return 1; ensure; a; end; ensure; b; end; end; def r; begin; foo; rescue; return 1; ensure; while true; break; end; end; end
----
def m; while a; begin; foo; rescue A; next; rescue B; redo; rescue C; retry; rescue D; break 1; ensure; b; end; end; end
----
class A; end; class A < B; def x; end; end; class A::B < C; end; class ::D; end; module M; X = 1; end; module M::N; end; class << self; def x; end; end; x = class A; 5; end; class A; x = 1; [1].each { x }; end
----
alias a b; alias :a :b; alias $a $b; alias $new $&; undef a, :b; alias :"a#{1}" b; undef :"x#{1}"
----
defined?(a); defined?(@a); defined?(@@a); defined?($a); defined?(A); defined?(A::B); defined?(::A); defined?(a.b); defined?(a.b.c(1)); defined?(yield); defined?(super); defined?(1); defined?(a = 1); defined?([a, 1]); defined?((a)); defined?(()); defined?($1); defined?($&); defined?(self); defined?(nil); defined?(a.b = 1); defined?(String.new(zork)); defined? @foo && 1; defined?(self.foo); defined?(a[1])
----
$~; $1; $&; $`; $'; $+; $~ = nil; $!; $_; $0; /(?<x>a)(?<y>b)/ =~ s; x; y; [1].each { $1 }; def m; "a" =~ /a/; $~; end
----
__FILE__; __LINE__; __dir__; __method__; __ENCODING__; BEGIN { a = 1 }; END { b }; b = 2
----
if (a == 1)..(b == 2) then c end; x = 3 if a...b; [1].each { |i| p i if (i == 1)..(i == 2) }
----
a and b; a or b; not a; a && (b || c) && !d; x = a && b; if a && b || c && !d then 1 end; while a or b and not c do end; (a; b); (); ((1))
----
binding; eval("1"); a = 1; instance_eval("x"); foo { |y| binding; z = 1 }; local_variables; proc {}.binding
----
def m(a, b = (return 1; 2), c = -> { a }, d: a, e: -> { d }) = [a, b, c, d, e]; def n(a = b = 1) = [a, b]; def o(k: (x = 1; x)) = k + x; def p(a = 1, (b, c), &d) = -> { [a, b, c, d] }; def _(_, _) = _
----
# frozen_string_literal: true
"a"; "a#{1}"; 'b' 'c'; <<A
x
A
----
# encoding: euc-jp
"a"; __ENCODING__
----
# shareable_constant_value: literal
A = [1, "a"]; B ||= {a: 1}
----
foo(if a then b end, *[1], k: (2 if 3), **{a: 1}) { |x| while x do break end }
----
a.b.c += 1; a[b[c]] ||= d[e] += 1; a.b, c = 1, 2; @a ||= begin; 1; rescue; 2; end; a = b = c = 1; a = (b = 1) + (c = 2); x = *1, 2; a ||= (b ||= 1)
----
return 1; return; return 1, 2; return *a
----
p((1; 2)); p(()); [(1; 2)]; {a: (1; 2)}; "#{}"; "#{1; 2}"; "#@a #$b #@@c"; :"#@a"
----
"a".freeze; -"b"; "c".dup; 1.+(2); 1&.+(2); a.-@; a.![1]; a != 1; a != b; x if a != 1; x unless a != b; x while a == nil
----
def m(s) = (s.each { |x| foo(x) }; $1)
----
a.b.c.d(e.f(g.h(1), 2).i, j).k.l[m.n] + o.p(q)
