# Compiled code counts by itself past whatever a program made of its operators.
class Integer
  %i[+ - < <= > >= == != << [] ! === -@].each { |op| define_method(op) { |*| raise "#{op} asked" } }
end
class Array
  %i[length size [] first last ==].each { |op| define_method(op) { |*| raise "#{op} asked" } }
end
class Object; def !; raise "! asked"; end; end
def kind(x)
  case x
  when *["a", "b"] then :ab
  when "c", *%w[d e] then :cde
  else :none
  end
end
$stdout.puts kind("a").inspect, kind("b").inspect, kind("d").inspect, kind("z").inspect
def none(x) = case when *x then :hit else :miss end
$stdout.puts none([nil, false]).inspect, none([nil, :q]).inspect
def arr(x)
  case x
  in ["q", *] then :q
  in [a, b] then [:two, b, a]
  in [*, "x", y, *rest] then [:find, y, rest]
  in [first, *mid, last] unless first.nil? then [:mid, mid]
  else :none
  end
end
def show(v) = $stdout.puts(v.inspect)
show arr(["q", "r"])
show arr(["u", "v"])
show arr(["u", "v", "x", "w", "z", "k"])
show arr(["u", "v", "w"])
show arr([nil, "v", "w"])
show arr([])
begin
  raise ArgumentError, "x"
rescue *[TypeError, ArgumentError] => e
  show e.class
end
o = Object.new
def o.each; yield "a", "b"; yield ["c"]; yield; end
for *x in o do show x end
def o.deconstruct = 5
begin; case o; in [a] then 1; end; rescue TypeError => e; show e.message; end
def o.deconstruct_keys(k) = 5
begin; case o; in {a:} then 1; end; rescue TypeError => e; show e.message; end
class B < BasicObject
  def m(x) = case x; in "never" then 1; end
  def k(x) = case x; in {a:} then 1; end
  def d = case self; in [a] then 1; else 2; end
  def respond_to?(*) = true
  def deconstruct = 5
end
begin; B.new.m("s"); rescue NoMatchingPatternError => e; show e.message; end
begin; B.new.k({b: "q"}); rescue NoMatchingPatternKeyError => e; show e.key; end
begin; B.new.d; rescue TypeError => e; show e.message; end
