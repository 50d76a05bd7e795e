# `!` and `!=` are calls wherever they stand, in conditions and beside small integers too.
class Both
  def !=(other) = (puts "!= #{other.inspect}"; other == 5 && :differs)
  def ==(other) = (puts "== #{other.inspect}"; other == 5 && Said.new)
  def !~(other) = (puts "!~"; other)
  def =~(other) = (puts "=~"; nil)
end
class Said
  def ! = (puts "!"; :unsaid)
  def yes? = self
  %i[< <= > >=].each { |o| define_method(o) { |other| puts "#{o} #{other}"; self } }
end

b, s, five = Both.new, Said.new, 5
[5, 6].each do |n|
  puts "-- #{n}"
  puts "if" if b != n
end
puts "-- forms"
puts "if" if b != 5
puts "unless" unless b != 5
puts "if 6" if b != 6
puts "unless 6" unless b != 6
puts "while" while b != 6
puts "until" until b != 5
puts(b != 5 ? "then" : "else")
puts "and" if b != 5 && five == 5
puts "or" if b != 6 || b != 5
puts "register" if b != five
p b != 5, (b != 6)
puts "not equal" unless !(b == 5)
p b !~ 1, (b !~ nil ? 1 : 2)

puts "-- !"
puts "said" if !s
puts "not said" unless !s
puts "!!" if !!s
puts "not" if not s.yes?
puts "and" if !(five && s)
puts "or" if !(nil || s)
puts "parentheses" if !((s))
puts "less" if !(s < 1)
puts "at least" unless !(s >= five)
puts "both" if !s && !(s > 2)
p !(s <= 1), (not s)

puts "-- core classes"
[nil, :a, 5.0, 5, 2**70, [5], 5r].each { |x| puts "#{x.inspect} #{x != 5 ? "differs" : "equals"}" }
nan = Float::NAN
puts "nan" if nan != 0
x = 5
puts "no" if x != 5
puts "yes" if x != 6
class Missing < BasicObject
  undef_method :!=, :!
  def method_missing(name, *a) = (::Kernel.puts "missing #{name} #{a}"; true)
end
m = Missing.new
puts "missing" if m != 1
puts "missing" if !m
module Off
  refine(Integer) { def !=(other) = (puts "refined"; true) }
  refine(NilClass) { def ! = (puts "refined nil"; false) }
end
using Off
puts "yes" if x != 5
puts "yes" if !nil

puts "-- afterwards"
def unequal(x) = x != 5 ? "differs" : "equals"
def turned(x) = !(x in 5) ? "no" : "yes"
puts unequal(5), turned(5)
class Integer
  def !=(other) = (puts "own"; true)
end
class TrueClass
  def ! = (puts "own !"; true)
end
puts unequal(5), turned(5)
