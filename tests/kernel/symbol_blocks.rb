# A block made of a Symbol calls a native where its arguments stand, and whatever else the name means as any call does.
def two = yield("ab", 2)
def three = yield([1, 2, 3], 1, 2)
def none = yield
def keys = yield({a: 1}, **{b: 2})
def splat(list) = yield(*list)

p two(&:*), three(&:[]), splat([[4, 5], 1])  { |a, i| a[i] }, splat([[4, 5], 1], &:[])
p keys(&:merge)
p %w[b a].sort_by(&:ord), [1, 2.5, 3r, 2**70].inject(&:+), [[1, [2]]].map(&:flatten)
p [3, "x", nil, :s, 1.0, [1]].map(&:to_s), [1..3, {a: 1}, [7]].map(&:first)
begin none(&:size) rescue p $!.class, $!.message end

def told
  yield
rescue => e
  puts "#{e.class}: #{e.message}"
end
told { [1].each(&:upcase) }
told { ["a".freeze].each(&:upcase!) }
told { [:s].map(&:puts) }
told { two(&:size) }
told { [1].map(&:+) }
told { [[1, 2]].each(&:first).map(&:fetch) }
told { [nil].map(&:succ) }

class Text
  def initialize(s) = @s = s
  def to_str = @s
  def coerce(n) = [n, 10]
  attr_reader :s
  protected def hidden = 1
  def method_missing(name, *a) = "missing #{name} #{a}"
  def respond_to_missing?(*) = true
end
def pair(a, b) = yield(a, b)
p pair("x", Text.new("y"), &:+), pair(1, Text.new("y"), &:+), [Text.new("q")].map(&:s), [Text.new("q")].map(&:any)
p [Text.new("q")].map(&:hidden)

class String
  alias old_size size
  def size = old_size + 100
end
p %w[a bc].map(&:size)
class String
  alias size old_size
end
p %w[a bc].map(&:size)
lazily = [3, 1, 2].each_entry
p lazily.map(&:succ), lazily.each_slice(2).map(&:max), [[1, 2], [3, 4]].each_with_index.map(&:first)
p [1, 2, 3].each_with_object(1).each(&:+)
p({a: 1}.map(&:first), {b: [2]}.sum(&:size))
