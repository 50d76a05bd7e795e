# Classes that a program makes as it runs are no more when it has done with them.
require "kumihimo/segments"
ds = Kumihimo::Segments.local

def work(ds, n)
  n.times do |i|
    made = Class.new(Kumihimo::CodeSegment) do
      input :x, take: "x"
      define_method(:run) { put "y", x + i }
    end
    ds.put("x", 1)
    made.start.join
    # A second start goes by the class's plan.
    ds.put("x", 2)
    made.start.join
    Kumihimo::Segments.when(take: "y") {}.join
    ds.take("y")
  end
  nil
end
work(ds, 300)
Kumihimo::Segments.settle
3.times { GC.start }
left = Kumihimo::CodeSegment.subclasses.size
puts left < 60 ? "few are left" : "#{left} are left"

# One that is kept works on, and so does one that waits.
class Kept < Kumihimo::CodeSegment
  input :a, take: "a"
  def run = put("b", a * 2)
end
def waits
  Class.new(Kumihimo::CodeSegment) { input :c, take: "c"; def run = put("d", c * 3) }.start
  nil
end
waits
Kept.start
GC.start
ds.put("a", 1)
ds.put("c", 1)
p ds.take("b"), ds.take("d")
GC.start
Kept.start
ds.put("a", 4)
p ds.take("b")
