# What a refinement makes visible is the refined class's own method.
class C
  private def m = 1
  private def n(a, k: 2) = [a, k, block_given?]
  def open = :open
end
class D < C
  def m = 10 + super
end
module P
  refine(C) { public :m, :n }
  refine(Array) { private :push }
end
module Q
  refine(C) { private :open }
end

begin
  C.new.m
rescue NoMethodError => e
  puts e.message
end

using P
p C.new.m
p C.new.n(1, k: 3) { }
p D.new.m
p C.new.then { |c| [c].map(&:m) }
p C.new.send(:m), C.new.public_send(:m)
x = C.new
i = 0
while x.m == 1 && i < 3
  i += 1
end
p i

# The refined method is gone by the time it is called.
class E
  private def gone = 1
end
module R
  refine(E) { public :gone }
end
using R
p E.new.gone
class E
  remove_method :gone
end
begin
  E.new.gone
rescue NoMethodError => e
  puts e.class
end
module Kernel
  def gone = :kernel
end
p E.new.gone

using Q
begin
  C.new.open
rescue NoMethodError => e
  puts e.message.sub(/#<.*>/, 'C')
end
