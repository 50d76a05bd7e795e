# nodes: 2
# A node that stands still while it is answered costs the other one no memory: what it has called is begun as it reads.
require_relative "../support/texts"
many, size = 40_000, 16_000
answers = many.times.map { TEXTS.async.read(size) }
spawn("sleep 1; kill -CONT #{Process.pid}")
Process.kill(:STOP, Process.pid)
p answers.sum { |a| a.value.size } == many * size
peak = TEXTS.peak
p peak < 400 || peak
TWO.put("end", 1)
