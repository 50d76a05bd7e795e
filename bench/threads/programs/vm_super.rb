# super through three classes.
times = (1_000_000 * (ARGV[0] || 1).to_f).ceil
class A; def up(x) = x + 1; end
class B < A; def up(x) = super; end
class C < B; def up(x) = super(x); end
c = C.new
i = 0
i = c.up(i) while i < times
puts i
