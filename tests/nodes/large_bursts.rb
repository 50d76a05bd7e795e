# nodes: 2
# Many large values at once are many large values, whoever asks for them.
require "kumihimo/segments"
require "kumihimo/remote"
R = Kumihimo::Remote
S = Kumihimo::Segments
here = S.local

class Texts
  include R
  def read(size) = "r" * size
  def write(text) = text.size
end

if S.node != "node1"
  R.register("texts", Texts.new)
  here.put("ready", 1)
  here.take("end")
  exit
end
two = S["node2"]
many, size = 15, 20 << 20
at_once = ->(count, &does) { count.times.map { |i| Thread.new { does.(i) } }.sum(&:value) }

text = "x" * size
at_once.(many) { two.put("put", text).clamp(0, 1) }
p two.size("put"), at_once.(many) { two.take("put").size } == many * size
two.put("peek", text)
p at_once.(60) { two.peek("peek").size } == 60 * size
two.take("ready")
texts = R.find("texts", on: "node2")
p at_once.(many) { texts.write(text) } == many * size
p at_once.(70) { texts.read(size).size } == 70 * size
two.put("end", 1)
