# What is warned of with $VERBOSE true, and handed to Warning.warn; which definitions discard nothing.
module Warning
  def self.warn(text, category: nil) = puts("#{text.chomp.sub(/\A.*?(?=\d+: )/m, "")}#{" (#{category})" if category}")
end
def quiet
  old, $VERBOSE = $VERBOSE, nil
  yield
ensure
  $VERBOSE = old
end
class Before; def m = 1; def m = 2; end
$VERBOSE = true
class A
  def a; end
  def a; end
  attr_accessor :b
  def b; end
  attr_reader :b
  attr_writer :b
  define_method(:a) { }
  define_method(:a) { }
  alias a b
  alias_method :a, :b
  def self.s; end
  def self.s; end
  class << self
    def s; end
    attr_reader :t
    def t; end
  end
  define_singleton_method(:s) { }
end
o = Object.new
def o.x; end
def o.x; end
module M
  module_function
  def q; end
  def q; end
end
# Discards nothing: aliased, undefined, removed, inherited, only made visible, in a refinement, prepended, defined through eval in another class.
class N
  def a; end
  alias old_a a
  def a; end
  def b; end
  undef b
  def b; end
  def c; end
  remove_method :c
  def c; end
  def to_s = ""
  def d; end
  private :d
  def e; end
  alias_method :old_e, :e
  define_method(:e) { }
end
class NN < N
  def d; end
  private :a
  def a; end
end
module R
  refine N do
    def a; end
    def a; end
  end
end
module P; def a; end; end
class N; prepend P; end
quiet { class N; def a; end; def c; end; end }
class N; def c; end; end
S = Struct.new(:m) { def m; end }
class Integer
  def %(o) = 3
end
class Object; def initialize; end; end
class Object; remove_method :initialize; end
class Risky
  def object_id; end
  def __send__; end
  undef object_id
  undef_method :__send__
end
C = 1
C = 2
$set = $not_set_yet
class << o; private; attr_reader :w; end
def undefinable; end
eval("def undefinable; end", nil, "(x)", 7)
Class.new { def a; end; class_eval "def a; end" }
Warning[:performance] = true
class Float; def *(o) = 0; end
class Hash; def [](k) = nil; end
class Foo; def +(o) = 0; def +(o) = 1; end
$VERBOSE = false
class A; def a; end; end
def o.__send__; end
class String; def <<(o) = self; end
$VERBOSE = nil
class Risky; def object_id; end; end
C = 3
class String; def +(o) = self; end
