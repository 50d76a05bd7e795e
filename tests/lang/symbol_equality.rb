# Symbols are compared in the loop until somebody defines == or != of theirs.
a, b = :alpha, :beta
x = nil
p a == b, a == :alpha, a != b, a != :alpha, a == "alpha", a != nil, a == 1, :alpha == a
puts "jump" if a == :alpha
puts "no" if a == b
puts "unless" unless a == "alpha"
puts "neq" if a != b
puts "not" unless a != :alpha
p "not 3" unless a == 3
p "neq 3" if a != 3
n = 0
while a == :alpha
  n += 1
  a = b if n == 3
end
p n
a = :alpha
o = Object.new
def o.==(y) = true
p a == o, o == a, a != o
module Odd
  refine(Symbol) { def ==(y) = :refined }
end
module Used
  using Odd
  p :a == :b
  puts "refined jump" if :a == :b
end
def compare(x, y) = [x == y, x != y, x == y ? 1 : 2]
p compare(:a, :b)
class Object
  def ==(y) = :object
end
p compare(:a, :b)
class Symbol
  def !=(y) = :differs
end
p compare(:a, :b), compare(:a, :a)
class Symbol
  def ==(y) = 7
end
p compare(:a, :b)
class Symbol
  remove_method :!=
end
p compare(:a, :b)
class Integer
  def ==(y) = 7
end
p compare(1, 2)
