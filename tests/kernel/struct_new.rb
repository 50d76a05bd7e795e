# Instances of Struct classes, whichever way they are made, and whose `initialize` is whose.
S = Struct.new(:a, :b)
p S.new, S.new(1), S.new(1, 2), (S.new(1, 2, 3) rescue $!.message), S.new(a: 1, b: 2), S.new({a: 1}), S.new(1, {b: 2}), (S.new(c: 1) rescue $!.message)
K = Struct.new(:a, :b, keyword_init: true)
p K.new(a: 1), (K.new(1) rescue $!.message), K.new
F = Struct.new(:a, keyword_init: false); p F.new(a: 1)
class T < S; def initialize(x) = super(x, x + 1); end
p T.new(4), T[5]
class U < S; end
p U.new(1), U[1, 2]
class V < S; def self.new(*a) = super(*a, 9); end
p V.new(1)
class W < S; def self.allocate = raise("no"); end
p((W.new(1) rescue $!.message))
p S.method(:new).arity, S.method(:new).owner, S.new(*[1, 2]), [1, 2].then { |x| S.new(*x) }
p S.new(1) { |s| 3 }
b = Class.new(S) { def initialize(*) = (super; @z = 1) }
p b.new(1).instance_variables
p S.instance_method(:initialize).arity
Struct.class_eval { alias old initialize; def initialize(*a) = (old(*a); $n = 1) }
p S.new(7), $n
