# attr_reader and attr_writer.
times = (15_000_000 * (ARGV[0] || 1).to_f).ceil
class Holder
  attr_accessor :value
  def initialize = @value = 1
end
h = Holder.new
i = 0
while i < times
  h.value = h.value
  i += 1
end
puts i
