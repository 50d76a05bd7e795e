# Refinements are found wherever the language calls a method: operators, conditions, `case`, interpolation, `&:name`.
$r = []
def t(l)
  r = begin; yield; rescue Exception => e; "#{e.class}"; end
  puts "#{l}: #{r.inspect}"
end
class Foo; def to_s = "foo"; def each; yield 1; end; def hi = :hi; def <=>(o) = 0; def coerce(o) = [o, 1]; def to_ary = nil; def call = :call; def inspect = "Foo!"; def hash = 1; def to_a = [1]; def to_proc = ->(x) { :p }; def to_hash = {a: 1}; def to_str = "x"; def method_missing(n, *a) = [:mm, n]; def respond_to_missing?(*) = false; def eql?(o) = true; def =~(o) = :m; def !~(o) = :nm; def deconstruct = [1]; def deconstruct_keys(k) = {a: 1} ; def each_pair; end;  end
class Bar; def hi = :barhi; end
module Mod; def mm = :mm; def zz = :zz end
class Foo; include Mod; end
module R
  refine Integer do
    def +(o) = "#{to_s}plus#{o}"
    def -(o) = :minus
    def *(o) = :times
    def /(o) = :div
    def %(o) = :mod
    def **(o) = :pow
    def <(o) = :lt
    def <=(o) = :le
    def >(o) = :gt
    def >=(o) = :ge
    def ==(o) = :eq
    def !=(o) = :ne
    def <=>(o) = :cmp
    def <<(o) = :shl
    def >>(o) = :shr
    def &(o) = :and
    def |(o) = :or
    def ^(o) = :xor
    def -@ = :neg
    def +@ = :pos
    def ~ = :tilde
    def ! = :not
    def [](*a) = :aref
    def []=(a, b); $r << [:aset, a, b]; end
    def ===(o) = true
    def =~(o) = :match
    def to_s = "INT"
    def times = :times_refined
    def succ = :succ
    def size = :size
    def zero? = :zero
    def nil? = :isnil
    def length = :len
    def coerce(o) = [7, 7]
    def foo = :foo
    def call(*a) = [:called, a]
    def is_a?(x) = :isa
    def freeze = :frz
    def hash = :hash
    def min = 1
  end
  refine String do
    def +(o) = :splus
    def ==(o) = :seq
    def =~(o) = :smatch
    def [](*a) = :saref
    def <<(o) = :sshl
    def to_s = "STR"
    def length = :slen
    def empty? = :semp
    def -@ = :sdedup
    def +@ = :splusat
    def % (o) = :sfmt
    def * (o) = :smul
    def freeze = :sfreeze
    def ===(o) = :seqq
    def each_char2 = :ec2
    def to_sym = :ts
    def to_proc = ->(x) { :sproc }
    def to_ary = [1,2]
  end
  refine Array do
    def [](*a) = :aaref
    def []=(*a); $r << [:aaset, a]; end
    def <<(o) = :ashl
    def +(o) = :aplus
    def first = :afirst
    def max = :amax
    def min = :amin
    def empty? = :aemp
    def size = :asize
    def length = :alength
    def each = [:aeach, block_given? ? yield(5) : 0]
    def pack(*) = :apack
    def hash = :ahash
    def include?(x) = :ainc
    def last = :alast
    def map = :amap
    def ==(o) = :aeq
    def -(o) = :aminus
    def & (o) = :aand
    def to_s = "ARR"
    def ! = :anot
    def nil? = :anil
    def inspect = "refined"
    def to_proc = ->(x) { :arrproc }
  end
  refine Hash do
    def [](k) = :haref
    def []=(k, v); $r << [:haset, k, v]; end
    def empty? = :hemp
    def size = :hsize
    def each = :heach
    def key?(k) = :hkey
    def to_proc = ->(x) { :hproc }
  end
  refine NilClass do
    def nil? = :nilnil
    def ! = :notnil
    def to_s = "NIL"
    def foo = :nilfoo
    def &(o) = :nand
    def to_a = [:nila]
  end
  refine TrueClass do
    def ! = :nottrue
    def &(o) = :tand
    def to_s = "TRUE"
  end
  refine Symbol do
    def to_proc = ->(x) { [:symproc, self, x] }
    def ==(o) = :symeq
    def to_s = "SYM"
    def [](x) = :symaref
    def to_sym = 1
  end
  refine Float do
    def +(o) = :fplus
    def <(o) = :flt
    def -@ = :fneg
    def to_s = "FLT"
  end
  refine Foo do
    def to_s = "refoo"
    def each; yield 100; end
    def hi = [:rhi, super]
    def <=>(o) = 1
    def ===(o) = true
    def call(*a) = [:rcall, a]
    def inspect = "RFoo"
    def to_ary = [4, 5]
    def to_a = [8, 9]
    def to_proc = ->(x) { :rp }
    def to_hash = {z: 1}
    def to_str = "rs"
    def new_m = :new_m
    def foo=(x); $r << [:foo=, x]; end
    def foo = nil
    def bar = 3
    def method_missing(n, *a) = [:rmm, n]
    def respond_to_missing?(*) = true
    def !~(o) = :rnm
    def =~(o) = :rm
    def ==(o) = :req
    def deconstruct = [:rd]
    def deconstruct_keys(k) = {a: :rdk}
    def coerce(o) = [100, 200]
    def ! = :rnot
    def [](x) = [:ri, x]
    def []=(x, y); $r << [:rset, x, y]; end
    private def priv = :priv
    protected def prot = :prot
    def use_priv = priv
    def self_plus = 1 + 1
    def respond_to?(*) = :rt
    def equal?(o) = :requal
    def hash = :rhash
    def eql?(o) = :reql
    def initialize_copy(o) = super
    def dup = :rdup
    def each_pair = :rpair
    def -@ = :rneg
    def +@ = :rpos
    def ~ = :rtil
    def +(o) = [:rplus, o]
    def <<(o) = [:rshl, o]
    def `(x) = 1
  end
  refine Mod do
    def mm = [:rmm2, super]
    def modnew = :modnew
  end
  refine Object do
    def objnew = :objnew
    def to_proc = ->(x) { :oproc }
  end
  refine Foo.singleton_class do
    def ===(o) = :foo_eqq
    def newc = :newc
    def [](*a) = [:cls, a]
    def new(*) = :refined_new
    def foo_m = :fm
  end
  refine Kernel do
    def kernel_new = :kn
    def puts2 = :puts2
    def format(*) = :fmt
    def p2(*) = 1
    def rand(*) = :rnd
  end
  refine Regexp do
    def =~(o) = :rx
    def ===(o) = :rxeqq
    def match?(o) = :rxm
  end
  refine Range do
    def each = :rangeeach
    def ===(o) = true
    def include?(x) = :rinc
  end
  refine Proc do
    def call(*) = :pcall
    def ===(o) = true
    def [](*) = :paref
    def yield(*) = :pyield
    def to_proc = ->(*) { :pp }
  end
  refine Comparable do
    def clampx = :clampx
    def between?(*) = :btw
  end
  refine Enumerable do
    def sum2 = :sum2
    def first2 = :first2
    def to_set = :tset
  end
  refine Exception do
    def message = :rmessage
  end
  refine Module do
    def name = "RN"
    def ===(o) = :modeq
  end
  refine Class do
    def newz = :newz
  end
end
using R
f = Foo.allocate
x = 3; y = 4; s = "s"; a = [1, 2]; h = {a: 1}; n = nil; tr = true; fl = 1.5; z = 0
t("int ops") { [x + y, x - y, x * y, x / y, x % y, x ** y, x < y, x <= y, x > y, x >= y, x == y, x != y, x <=> y, x << y, x >> y, x & y, x | y, x ^ y] }
t("int const ops") { [x + 1, x - 1, 1 + 1, 2 * 3, x < 5, x == 3, 3 == x, x + 100000, 1 << 2, 5 % 2] }
t("int unary") { [-x, +x, ~x, !x, (not x), x[0], x =~ 1] }
t("int aset") { x[1] = 2; $r.pop }
t("int opassign") { v = 3; v += 1; w = 3; w -= 1; u = 4; u <<= 1; q = 4; q *= 1; [v, w, u, q] }
t("cond lt") { x < y ? 1 : 2 }
t("cond false") { (if x == y then 1 else 2 end) }
t("cond ne") { (x != x) ? 1 : 2 }
t("while") { i = 0; i = 10 while i == 0 && false; i }
t("case") { case 99 when 3 then :three else :other end }
t("case in") { case 99; in 3 then :three else :other end }
t("case nil") { case "x" when nil then 1 when "q" then 2 else 3 end }
t("interp") { "#{x} #{s} #{a} #{n} #{tr} #{fl} #{:sym} #{f}" }
t("interp sym") { :"a#{x}" }
t("interp re") { /#{x}/.source }
t("sym to_proc") { [1].sum(&:foo) rescue $!.class }
t("map &:foo") { {a: 1}.map { 1 }; [3].each_entry.map(&:foo) }
t("&:to_s") { [1].each_entry.map(&:to_s) }
t("&obj") { [1].each_entry.map(&f) }
t("&hash") { [:a].each_entry.map(&h) }
t("&str") { [:a].each_entry.map(&"q") }
t("send") { [x.send(:foo), x.__send__(:foo), x.public_send(:foo), x.send(:+, 1), 5.send(:times)] }
t("respond_to?") { [x.respond_to?(:foo), f.respond_to?(:new_m), s.respond_to?(:each_char2)] }
t("method") { [x.method(:foo).call, f.method(:new_m).call, 1.method(:+).call(2), f.public_method(:new_m).call] }
t("instance_method") { [Integer.instance_method(:foo).bind(1).call, Foo.instance_method(:hi).bind(f).call] }
t("method_defined?") { [Integer.method_defined?(:foo), Foo.instance_methods.include?(:new_m), f.methods.include?(:new_m)] }
t("for") { o = []; for i in f do o.concat([i]) end; o.inspect }
t("for arr") { o = 0; for i in a do o = i end; o }
t("string ops") { [s + "x", s == "s", s =~ /x/, s[0], s << "a", s.length, s.empty?, -s, +s, s % 1, s * 2, s.freeze] }
t("lit freeze") { ["lit".freeze, -"lit", "a" "b" == "c"] }
t("case str") { case "zzz" when "a" then 1 else 2 end }
t("arr ops") { [a[0], a[0, 1], a << 1, a + a, a.first, a.max, a.min, a.empty?, a.size, a.length, a.last, a == a, a - a, a & a, !a, a.nil?] }
t("arr aset") { a[0] = 9; $r.pop }
t("arr lit max") { [[x, y].max, [x, y].min, [3].pack("C"), [1,2].include?(1), [1, x].include?(x), [1,2].hash] }
t("arr each") { a.each { |q| q } }
t("hash ops") { [h[:a], h["lit"], h.empty?, h.size, h.each, h.key?(1)] }
t("hash aset") { h[:q] = 1; h["s"] = 2; $r.pop(2) }
t("hash opassign") { h[:z] ||= 5; h[:y] += 1 rescue $!.class }
t("nil") { [n.nil?, !n, n.foo, n & 1, n.to_a, nil.to_s, n.to_s] }
t("safe nav") { [n&.foo, x&.foo, f&.new_m] }
t("true") { [!tr, tr & 1, !true] }
t("sym") { [:a == :b, :a[0], :a.to_s, [1].each_entry.map(&:a.to_proc)] }
t("float") { [fl + 1, fl < 1, -fl, 1.0 + 2, 1 + 1.0] }
t("foo ops") { [f == 1, f =~ 1, f !~ 1, !f, f[3], f <=> 1, -f, +f, ~f, f + 1, f << 2, f != 1] }
t("foo aset") { f[1] = 2; $r.pop }
t("foo attr") { f.foo = 5; $r.pop }
t("foo attr ||=") { f.foo ||= 6; $r.pop }
t("foo attr +=") { f.foo = 1; f.bar; $r.pop }
t("masgn attr") { f.foo, f[8] = 1, 2; $r.pop(2) }
t("super") { f.hi }
t("call()") { [f.(1), 5.(2)] }
t("splat") { [*f] }
t("splat call") { [].push(*f) }
t("masgn") { p1, p2 = f; [p1, p2] }
t("block arg splat") { proc { |q, w| [q, w] }.yield(f) }
t("hash splat") { {**f} }
t("kw splat") { ->(**k) { k }.(**f) }
t("pattern hash") { case f; in {a:} then a; end }
t("pattern const") { case 5; in Foo then 1; else 2; end }
t("when class") { case 5 when Foo then 1 else 2 end }
t("when range") { case 500 when 1..2 then 1 else 2 end }
t("when regex") { case "x" when /y/ then 1 else 2 end }
t("when proc") { case "x" when ->(q) { false } then 1 else 2 end }
t("regex") { [/x/ =~ "y", /x/ === "q", "y" =~ /x/, /x/.match?("z"), /x/ !~ "x"] }
t("named cap") { if /(?<cc>x)/ =~ "x" then cc else 0 end }
t("cond regex") { $_ = "abc"; (if /abc/ then 1 else 2 end) }
t("private") { f.priv }
t("use_priv") { f.use_priv }
t("prot") { f.prot }
t("missing") { f.unknown_thing }
t("module refine") { [f.mm, f.modnew] }
t("object") { [objnew, f.objnew, 1.objnew, nil.objnew] }
t("class refine") { [Foo.newc, Foo[1], Foo.foo_m, Foo === 1] }
t("Foo.new") { Foo.new }
t("proc") { pr = ->(*) { :orig }; [pr.call, pr.(), pr[1], pr === 1, pr.yield] }
t("yield not refined") { def yy = yield; yy { :orig } }
t("comparable") { ["a".clampx, 3.clampx, 3.between?(1, 2)] }
t("enumerable") { [[1].sum2, {}.sum2, (1..2).first2] }
t("range") { [(1..2).each, (1..2).include?(5)] }
t("module name") { [Foo.name, Foo.newz] }
t("defined") { [defined?(x.foo), defined?(f.new_m), defined?(f.priv), defined?(kernel_new), defined?(1 + 1), defined?(x.nopeee)] }
t("alias") { Class.new { def a2 = 5.foo; alias b2 a2 }.new.b2 }
t("eval") { [eval("5.foo"), eval("5 + 5"), binding.eval("5.foo")] }
t("instance_eval str") { [f.instance_eval("1 + 1"), f.instance_eval { 1 + 1 }, Class.new.class_eval("5.foo")] }
t("define_method") { Class.new { define_method(:q) { 5.foo } }.new.q }
t("method ref") { [5].each_entry.map(&5.method(:+)) }
t("inject &") { [1, 2].inject(&:+) }
t("sum &") { [1, 2].each_entry.sort_by(&:min) }
t("flip") { (1..3).to_a.size }
t("succ") { [x.succ, x.size, x.zero?, x.nil?, x.is_a?(Integer), x.freeze, x.hash] }
t("x equal") { [f.equal?(f), f.eql?(1), f.hash, f.dup, f.respond_to?(:x)] }
t("str interpolation with obj") { "#{f}" + "" }
t("not") { [(not f), (not n), (not tr), (not a)] }
t("unless") { unless !f then 1 else 2 end }
t("!= derived") { [f != 1, "a" != "b", :a != :b, 1.5 != 2] }
t("curry") { :foo.to_proc.class }
t("catch sym") { %w[a].each_entry.map(&:length) }
t("public_send private") { f.public_send(:priv) }
t("send private") { f.send(:priv) }
t("instance_variable") { Foo.instance_method(:to_s).bind_call(f) }
t("format") { "%s %d" .to_s; Kernel.format("%s", f) }
t("array join") { [f].join }
t("str concat obj") { "".dup.concat(f) }
t("nested q") { [[3, 4]].each_entry.map { |p, q| p + q } }
t("cmp chain") { x.send(:<, 4) }
t("op in default arg") { ->(q = x + y) { q }.() rescue $!.class }
t("attr op") { o = Struct.new(:v).new(1); o.v += 5; o.v }
t("ivar op") { @q = 1; @q += 1; @q }
t("gvar") { $qq = 1; $qq += 1; $qq }
t("cvar ||=") { @w ||= 5; @w &&= @w + 1; @w }
t("until") { i = 0; begin; i = 1; end until !nil; i }
