class Ghost
  def method_missing(name, *args) = args.size
  def respond_to_missing?(*) = true
end
g = Ghost.new
n = 0
3_000_000.times { n += g.anything(1, 2) }
puts n
