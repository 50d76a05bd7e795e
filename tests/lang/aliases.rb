class String
  alias shout upcase
  def shout!(n = 1) = shout + "!" * n
end
class Array
  alias_method :old_first, :first
  def first(*a) = a.empty? ? [:patched, old_first] : old_first(*a)
end
p "a".shout, "a".shout!(2), [1, 2].first, [1, 2].first(1), [3].old_first
class Array
  alias_method :first, :old_first
end
p [1, 2].first, $stdout.class
$my = 1
alias $yours $my
$yours = 5
p $my
class Base
  def hi = "base"
  alias hello hi
end
class Sub < Base
  def hi = "sub"
end
p Sub.new.hello, Sub.new.hi, Sub.instance_method(:hello).name
undef shout rescue p $!.class
class Sub
  undef hello
end
p (Sub.new.hello rescue $!.class)
