f = Fiber.new do |x|
  puts "got #{x}"
  y = Fiber.yield(x + 1)
  puts "got #{y}"
  z = Fiber.yield(y + 1)
  z * 2
end
p f.resume(1), f.resume(10), f.alive?, f.resume(21), f.alive?
begin
  f.resume
rescue FiberError => e
  p e.class
end
g = Fiber.new { raise "in fiber" }
p (g.resume rescue $!.message), g.alive?
gen = Fiber.new do
  3.times { |i| Fiber.yield i }
  nil
end
while (v = gen.resume)
  print v, " "
end
puts
outer = Fiber.new do
  inner = Fiber.new do
    Fiber.yield :inner1
    :inner2
  end
  Fiber.yield inner.resume
  Fiber.yield inner.resume
  :end
end
p outer.resume, outer.resume, outer.resume
h = Fiber.new do
  begin
    Fiber.yield 1
  rescue => e
    "rescued #{e.message}"
  end
end
h.resume
p h.raise("into"), h.alive?
def walk(n, &b)
  return if n.zero?
  b.call(n)
  walk(n - 1, &b)
end
e = Enumerator.new { |y| walk(4) { |x| y << x } }
p e.next, e.next, e.to_a
fibers = 100.times.map { |i| Fiber.new { Fiber.yield i; i * 2 } }
p fibers.sum(&:resume), fibers.sum(&:resume)
