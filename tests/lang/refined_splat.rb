# A refined === decides in `when *list` too.
module Three
  refine(Integer) { def ===(other) = other == 3 || super }
  refine(String.singleton_class) { def ===(other) = other == :text || super }
end
using Three
def kind(x)
  case x
  when *[1, 2] then :small
  when *[String, Symbol] then :named
  else :none
  end
end
p kind(1), kind(3), kind("s"), kind(:text), kind(nil)
