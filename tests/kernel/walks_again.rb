# What `cycle` saw, it gives again as it was: no value is none.
class Odd; include Enumerable; def each = (yield; yield 1, 2; yield [3]; yield nil; self); end
given = []; Odd.new.cycle(2) { |*v| given << v }
p given
p Odd.new.cycle(2).map { |v| v }, Odd.new.cycle(2).map { |v, w| [v, w] }
two = ->(v, w = 0) { (given << [v, w]).size }
given.clear
class Even; include Enumerable; def each = (yield 1, 2; yield 3; self); end
Even.new.cycle(2, &two)
p given

# A frozen object with methods of its own is named by its class, which does not ask it.
o = Object.new
def o.inspect = "shown"
o.freeze
begin; o.instance_variable_set(:@a, 1); rescue FrozenError; puts $!.message.gsub(/0x\h+/, "X"); end
a = [1]; def a.x = 1
a.freeze
begin; a << 1; rescue FrozenError; puts $!.message.gsub(/0x\h+/, "X"); end
