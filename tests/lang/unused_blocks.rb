# Which methods are told of, with $VERBOSE true and with Warning[:strict_unused_block], that they ignore the block they are given.
module Warning
  class << self; attr_accessor :raises; end
  def self.warn(text, category: nil)
    raise text[/warning.*'/] if raises
    puts text.chomp.gsub(/[^\s:']+(?=:\d+)/m, "F") + (category ? " (#{category})" : "")
  end
end
class C
  def ignores = 1
  def self.of_class(a, b = 2, *c, k: 1, **o) = [a, b, c, k, o]
  def asks = block_given?
  def hides = proc { |x| x }
  def twice = 2
  define_method(:made) { 3 }
  attr_accessor :attr
  def initialize = super()
  def initialize_again = initialize { }
  def yields = yield(1)
  def yields_inside = [1].each { |x| yield x }
  def yields_by_default(a = yield) = a
  def passes(&) = each_of(&)
  def takes(&b) = 1
  def forwards(...) = each_of(...)
  def each_of = block_given? && yield
  def above = super rescue 1
  def above_by_hand = super() rescue 2
  def own_above = super() { 1 } rescue 3
  def given_above(x) = super(x, &:to_s) rescue 4
  def own_zsuper = super { 1 } rescue 5
  def in_eval = eval("1")
  alias aliased ignores
  def strict_name = 1
  def method_missing(name) = 7
  def respond_to_missing?(*) = true
  def ==(o) = true
  def [](i) = i
  def call(x = 1) = x
end
class D
  # Uses one, under a name that C has as well: C's is told of strictly only.
  def strict_name = yield
end
c = C.new { }
def top = 1
$VERBOSE = true
puts "once"
c.ignores { }
c.ignores { }
3.times { c.ignores { } }
c.aliased { }
puts "told"
p C.of_class(1, k: 2, z: 3) { }
p C.of_class(*[1, 2, 3]) { }
c.asks { }
c.hides { }
top { }
self.top { }
c.own_above { }
c.given_above(1) { }
c.own_zsuper { }
c.in_eval { }
c&.twice(&:to_s)
c[1] { }
c.(2) { }
puts "not told"
c.yields { }
c.yields_inside { }
c.yields_by_default { }
c.passes { }
c.takes { }
c.forwards { }
c.above { }
c.above_by_hand { }
c.made { }
c.attr { }
c.made(&nil)
c.initialize_again
c.missing { }
c.strict_name { }
[1].frozen? { }
c.send(:twice) { }
c.public_send(:ignores) { }
c.method(:ignores).call { }
puts "owners"
o = Object.new
def o.single = 1
o.single { }
Class.new { def anonymous = 1 }.new.anonymous { }
module M; def included = 1; def self.of_module = 1; class << self; def in_class = 1; end; end
class C; include M; end
c.included { }
M.of_module { }
M.in_class { }
S = Struct.new(:a) { def of_struct = 1 }
S.new(1).of_struct { }
module R
  refine(C) { def refined = 1 }
end
using R
c.refined { }
eval("def evaluated = 1\nevaluated { }", binding, "(x)", 5)
puts "raises"
Warning.raises = true
def raising = 1
begin
  raising { }
rescue => e
  puts e.message, e.backtrace_locations[-1].lineno
end
p raising { }
Warning.raises = false
puts "quiet"
[false, nil].each do |v|
  $VERBOSE = v
  def quiet = 1
  quiet { }
end
puts "strict"
p Warning.categories, Warning[:strict_unused_block]
Warning[:strict_unused_block] = true
p Warning[:strict_unused_block]
def strict = 1
strict { }
$VERBOSE = false
def strict_too = 1
strict_too { }
c.strict_name { }
$VERBOSE = nil
def strict_three = 1
strict_three { }
Warning[:strict_unused_block] = false
$VERBOSE = false
strict_three { }
