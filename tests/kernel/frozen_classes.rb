# What a FrozenError says: the object whose own class would change, or a class by its kind, where methods or ancestors change; the class
# of what is frozen, its singleton class if it has one, elsewhere. Interned Strings have no methods of their own.
def t(n)
  puts "#{n}: #{yield.inspect}"
rescue StandardError => e
  puts "#{n}: #{e.class}: #{e.message.gsub(/0x\h+/, "X")}#{" (#{e.receiver.class})" if FrozenError === e}"
end
M = Module.new; N = Module.new.freeze
class C; end; C.freeze
class D; def x; end; attr_accessor :q; CC=1; @@v = 1; end; D.freeze
t(1) { class C; def x; end; end }
t(2) { C.define_method(:x) {} }
t(3) { C.include(M) }
t(4) { C.prepend(M) }
t(5) { C.extend(M) }
t(6) { C.const_set(:X, 1) }
t(7) { C.class_variable_set(:@@x, 1) }
t(8) { C.instance_variable_set(:@x, 1) }
t(9) { C.attr_accessor :a }
t(10) { def C.x; end }
t(11) { D.remove_method(:x) }
t(12) { D.undef_method(:x) }
t(13) { D.alias_method(:y, :x) }
t(14) { D.send(:private, :x) }
t(16) { D.send(:remove_const, :CC) }
t(17) { D.remove_class_variable(:@@v) }
t(18) { N.define_method(:x) {} }
t(19) { N.include(M) }
t(20) { module N; def q; end; end }
t(22) { N.extend(M) }
t(23) { def N.z; end }
t(24) { D.class_eval { alias zz x } }
t(25) { D.class_eval { undef x } }
o = Object.new; o.singleton_class; def o.k; end; o.freeze
t(30) { def o.x; end }
t(31) { o.singleton_class.define_method(:x) {} }
t(32) { o.singleton_class.remove_method(:k) }
t(33) { o.singleton_class.undef_method(:k) }
t(34) { class << o; def z; end; end }
t(35) { class << o; private :k; end }
t(36) { o.singleton_class.include(M) }
t(37) { o.extend(M) }
t(38) { o.define_singleton_method(:zz) {} }
t(39) { o.singleton_class.const_set(:Q, 1) }
t(40) { class << o; attr_reader :kk; end }
t(41) { o.singleton_class.alias_method(:n, :k) }
t(42) { class << o; self; end.frozen? }
t(43) { String.new("a").freeze.extend(M) }
t(44) { :"a".to_s.freeze.extend(M) }
t(45) { "a#{1}".freeze.extend(M) }
t(46) { (-"qq#{1}").extend(M) }
t(47) { s = "lit".freeze; def s.x; end }
t(48) { s = String.new("lit").freeze; def s.x; end }
t(49) { "x".freeze.singleton_class }
t(51) { :a.singleton_class }
t(52) { 1.extend(M) }
t(53) { (2**70).extend(M) }
t(54) { 1.5.extend(M) }
t(55) { def nil.foo9; end }
t(56) { (1..2).extend(M) }
t(57) { (1..2).singleton_class.define_method(:a) {} }
t(58) { 1r.extend(M) }
t(59) { x = (S = Struct.new(:a)).new(1).freeze; x.a = 1 }
t(61) { Class.new.freeze.class_eval { public } }
t(62) { o.instance_variable_set(:@a, 1) }
t(63) { o.remove_instance_variable(:@a) }
t(64) { "s".freeze.instance_variable_set(:@a, 1) }
t(65) { :s.instance_variable_set(:@a, 1) }
t(66) { "abc".freeze.clone.extend(M) }
t(67) { "abc".freeze.instance_eval { def y; end } }
t(68) { o.instance_eval { def y; end } }
t(69) { C.class_eval "def y; end" }
t(70) { C.autoload(:Foo, "foo") }
