# nodes: 2
# A node that stands still while it is answered costs the other one no memory: what it has called is begun as it reads.
require "kumihimo/segments"
require "kumihimo/remote"
R = Kumihimo::Remote
S = Kumihimo::Segments
here = S.local

class Texts
  include R
  def read(size) = "r" * size
  def peak = File.read("/proc/self/status")[/VmHWM:\s*(\d+) kB/, 1].to_i / 1024
end

if S.node != "node1"
  R.register("texts", Texts.new)
  here.put("ready", 1)
  here.take("end")
  exit
end
two = S["node2"]
two.take("ready")
texts = R.find("texts", on: "node2")
many, size = 40_000, 16_000
answers = many.times.map { texts.async.read(size) }
spawn("sleep 1; kill -CONT #{Process.pid}")
Process.kill(:STOP, Process.pid)
p answers.sum { |a| a.value.size } == many * size
peak = texts.peak
p peak < 400 || peak
two.put("end", 1)
