def t(name)
  r = yield
  puts "#{name}: returned #{r.class}"
rescue Exception => e
  puts "#{name}: #{e.class}: #{e.message[0, 70]}"
end
def deep(n) = (a = []; n.times { a = [a] }; a)
t("plain") { def a1 = a1; a1 }
t("block") { def a2 = [1].each { a2 }; a2 }
t("mm") { class MM; def method_missing(n, *a) = foo(1); def respond_to_missing?(*) = true; end; MM.new.bar }
t("mm interpolate") { class MI; def method_missing(n, *a) = "#{self.zork}"; end; MI.new.bar }
t("to_s") { class TS; def to_s = "#{self}"; end; TS.new.to_s }
t("inspect") { class IN; def inspect = [self].inspect; end; IN.new.inspect }
t("sort") { class SO; def <=>(o) = [self, o].sort.size; end; [SO.new, SO.new].sort }
t("sort block") { def sb = [2, 1].sort { sb }; sb }
t("ensure") { def en; en; ensure; 1; end; en }
t("ensure deep") { $n = 0; def en2; en2; ensure; $n += 1; end; en2 }
t("rescue") { def re; re; rescue SystemStackError; raise; end; re }
t("proc") { f = ->(x) { f.(x + 1) }; f.(0) }
t("define_method") { Class.new { define_method(:x) { x } }.new.x }
t("hash default") { h = Hash.new { |hh, k| hh[k + 1] }; h[0] }
t("==") { class EQ; def ==(o) = [self] == [o]; end; [EQ.new] == [EQ.new] }
t("hash") { class HA; def hash = [self].hash; end; {HA.new => 1} }
t("coerce") { class CO; def coerce(o) = [self, self]; def +(o) = 1 + self; end; 1 + CO.new }
t("const_missing") { class CM; def self.const_missing(n) = const_get(:Q); end; CM::X }
t("instance_eval") { def ie = instance_eval { ie }; ie }
t("eval") { def ev = eval("ev"); ev }
