# nodes: 2
# More waits for a node that stands still than may: the connection ends with it, and nothing else does.
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
text = "x" * (20 << 20)
p texts.write(text) == text.size
Process.kill(:STOP, pid)
calls = 70.times.map do
  Thread.new do
    texts.write(text) == text.size ? :done : :wrong
  rescue Kumihimo::NodeLostError
    :done
  end
end
# Until all wait, or have failed.
sleep 1
Process.kill(:CONT, pid)
p calls.map(&:value).uniq
# It is there again, or still.
begin
  two.put("end", 1)
rescue S::NodeLost, S::NotConnected
  sleep 0.01
  retry
end
puts "over"
