# `super` without arguments gives the rest of the keywords first.
class Above; def m(*a, **k) = [a, k]; end
class Below < Above; def m(x, b: 2, **k) = (k[:b] = 5; super); end
p Below.new.m(1, c: 3, b: 4), Below.new.m(1)

# `super` in a refinement finds the refinements of what is above, and passes over its own.
class One; def q = [:one]; end
class Two < One; end
module Fine
  refine(Two) { def q = [:fine2] + super }
  refine(One) { def q = [:fine1] + super }
end
module Uses
  using Fine
  class Three < Two; def q = [:three] + super; end
  def self.all = [Two.new.q, Three.new.q]
end
p Uses.all
class Two; def q = [:two] + super; end
p Uses.all
class Two; remove_method :q; prepend(Module.new { def q = [:ahead] + super }); end
p Uses.all

# In a block with another self.
class Below; def n = Object.new.instance_eval { super() }; end
begin
  Below.new.n
rescue TypeError
  puts $!.message
end
