# `!` and `!=` of core classes are inherited: what a program defines further up counts.
def unequal(x) = x != 5
def branch(x) = x != 5 ? "differs" : "equals"
def turned(x) = !x ? "turned" : "not"
p unequal(5), branch(5), turned(nil), "a" != "a", 1.0 != 1.0

module Early
end
class Integer
  include Early
end
module Early
  def !=(other) = (puts "Early"; super)
end
p unequal(5), branch(5), branch(6)

module Late
  def ! = (puts "Late"; true)
end
class TrueClass
  include Late
end
p turned(true), turned(nil), !true

module Before
  def !=(other) = (puts "Before"; true)
end
class Object
  prepend Before
end
p unequal(nil), branch(5), "a" != "a", 1.0 != 1.0

class BasicObject
  def ! = :never
end
p turned(nil), !nil
