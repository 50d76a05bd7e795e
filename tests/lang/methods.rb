def opt(a, b = a * 2, *c, d, e: 1, f:, **g, &h) = [a, b, c, d, e, f, g, h&.call]
p opt(1, 2, f: 3), opt(1, 2, 3, f: 4), opt(1, 2, 3, 4, 5, e: 6, f: 7, x: 8) { 9 }
p method(:opt).arity, method(:opt).parameters
def kw(a:, b: 2) = [a, b]
p kw(a: 1), kw(b: 3, a: 4), kw(**{ a: 5 })
%w[kw(b:1) kw(a:1,c:2) opt(1,f:2) opt].each do |src|
  eval(src)
rescue ArgumentError => e
  puts e.message
end
def splat(*a, **k) = [a, k]
p splat(1, *[2, 3], 4, x: 1, **{ y: 2 }), splat({ a: 1 }), splat(*[], **{})
def fwd(...) = splat(...)
p fwd(1, 2, z: 3)


def last_hash(a, h) = [a, h]
p last_hash(1, x: 2)
def ensure_order
  yield
ensure
  puts "ensure"
end
p ensure_order { :v }
def multi = return 1, 2
p multi, (def foo; end), send(:opt, 1, 2, f: 0), respond_to?(:kw, true), public_methods(false).include?(:kw)
class Foo
  def method_missing(name, *args, &blk)
    return "mm:#{name}:#{args}" if name.start_with?("dyn")
    super
  end

  def respond_to_missing?(name, priv = false) = name.start_with?("dyn") || super
end
p Foo.new.dyn_x(1), Foo.new.respond_to?(:dyn_y), Foo.new.method(:dyn_z).call(2)
begin
  Foo.new.other
rescue NoMethodError => e
  puts e.message
  p e.name, e.args
end
begin
  undefined_thing
rescue NameError => e
  puts e.message
end
def rec(n) = n == 0 ? 0 : 1 + rec(n - 1)
p rec(5000), __method__.inspect
alias other_kw kw
p other_kw(a: 9)
