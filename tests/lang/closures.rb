def make_counter
  n = 0
  [-> { n += 1 }, -> { n }]
end
inc, get = make_counter
inc.call
inc.call
p get.call
procs = (1..3).map { |i| -> { i * 10 } }
p procs.map(&:call)
a = 1
blk = proc { a += 1; b = a * 2; b }
p blk.call, a, defined?(b)
def nested
  x = 1
  f = lambda do
    y = x + 1
    g = lambda { x += y; [x, y] }
    g
  end
  h = f.call
  h.call
  h.call
end
p nested
bnd = binding
v = 42
p bnd.local_variable_get(:v), eval("v + 1", bnd), bnd.local_variables.include?(:v), bnd.local_variable_defined?(:nope)
bnd.local_variable_set(:v, 7)
p v, eval("[1, 2].map { |q| q + v }")
while true
  z ||= 0
  z += 1
  break if z > 3
end
p z
m = 5.method(:+)
p m.call(3), m.owner, m.name, m.arity, m.unbind.bind(7).call(1), m.receiver
define_method(:dm) { |q = 2| q * a } rescue self.class.send(:define_method, :dm) { |q = 2| q * a }
p dm, dm(5)
