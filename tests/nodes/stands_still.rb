# nodes: 2
# More calls wait for a node that stands still than a connection takes, large ones and small ones: all are done when it goes on.
require "kumihimo/segments"
require "kumihimo/remote"
R = Kumihimo::Remote
S = Kumihimo::Segments
here = S.local

class Texts
  include R
  def write(text) = text.size
end

if S.node != "node1"
  R.register("texts", Texts.new)
  here.put("pid", Process.pid)
  here.take("end")
  exit
end
two = S["node2"]
pid = two.take("pid")
texts = R.find("texts", on: "node2")
calls = {
  70 => [20 << 20, ->(text) { Thread.new { texts.write(text) } }],
  30_000 => [10 << 10, ->(text) { texts.async.write(text) }]
}
calls.each do |many, (size, call)|
  text = "x" * size
  p texts.write(text) == size
  Process.kill(:STOP, pid)
  called = many.times.map { call.(text) }
  # Until as much is on its way as is going to be.
  sleep 1
  Process.kill(:CONT, pid)
  p called.sum(&:value) == many * size
end
two.put("end", 1)
