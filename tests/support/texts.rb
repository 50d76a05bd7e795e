# Texts of node2, for programs that have many of them under way. Node1 goes on from here; others serve until it has put "end".
require "kumihimo/segments"
require "kumihimo/remote"
R = Kumihimo::Remote
S = Kumihimo::Segments

class Texts
  include R
  def read(size) = "r" * size
  def write(text) = text.size
  # The most that its process had in memory, MB.
  def peak = File.read("/proc/self/status")[/VmHWM:\s*(\d+) kB/, 1].to_i / 1024
end

if S.node != "node1"
  R.register("texts", Texts.new)
  S.local.put("pid", Process.pid)
  S.local.take("end")
  exit
end
TWO = S["node2"]
PID = TWO.take("pid")
TEXTS = R.find("texts", on: "node2")
