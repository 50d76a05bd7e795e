# Methods by name and through method_missing.
times = (3_000_000 * (ARGV[0] || 1).to_f).ceil
class Anything
  def named(x) = x + 1
  def method_missing(_name, x) = x + 1
  def respond_to_missing?(*) = true
end
object = Anything.new
i = 0
i = object.unnamed(object.public_send(:named, i)) while i < times
puts i
