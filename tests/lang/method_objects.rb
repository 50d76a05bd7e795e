m = [1, 2, 3].method(:map)
p m.owner, m.name, m.arity, m.receiver, m.call { |x| x + 1 }, m.unbind.class, m.to_proc.call { |x| x * 2 }
def foo(a, b = 1, *c, d, e:, f: 2, **g, &h); end
p method(:foo).parameters, method(:foo).arity, method(:foo).source_location.class, method(:puts).owner
um = Array.instance_method(:size)
p um.bind([1, 2]).call, um.bind_call([1]), um.name, (um.bind("s") rescue $!.class)
p %w[1 2].map(&method(:Integer))
dbl = 2.method(:*)
inc = 1.method(:+)
p (dbl >> inc).call(5), (dbl << inc).call(5), [1, 2].map(&dbl), dbl == 2.method(:*), dbl.eql?(2.method(:*)), dbl.hash == 2.method(:*).hash, dbl.curry.call(4)
class Z
  def pub = :pub
  private def pri = :pri
  protected def pro = :pro
end
z = Z.new
p z.method(:pri).call, (z.public_method(:pri) rescue $!.class), z.public_methods(false), z.private_methods(false), z.protected_methods, Z.public_instance_method(:pub).class, Z.instance_methods(false).sort, Z.private_instance_methods(false), z.methods.include?(:pro)
p :upcase.to_proc.call("a"), :+.to_proc.call(1, 2), :upcase.to_proc.arity, :upcase.to_proc.lambda?, (proc {}).parameters, ->(a, b = 1) {}.parameters
define_singleton_method(:dsm) { |x = 3| x }
p dsm, method(:dsm).arity
p 5.respond_to?(:+), 5.public_send(:+, 1), (5.public_send(:puts) rescue $!.class), 5.__send__(:class)
