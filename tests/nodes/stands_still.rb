# nodes: 2
# More calls wait for a node that stands still than a connection takes, large ones and small ones: all are done when it goes on.
require_relative "../support/texts"
calls = {
  70 => [20 << 20, ->(text) { Thread.new { TEXTS.write(text) } }],
  30_000 => [10 << 10, ->(text) { TEXTS.async.write(text) }]
}
calls.each do |many, (size, call)|
  text = "x" * size
  p TEXTS.write(text) == size
  Process.kill(:STOP, PID)
  called = many.times.map { call.(text) }
  # Until as much is on its way as is going to be.
  sleep 1
  Process.kill(:CONT, PID)
  p called.sum(&:value) == many * size
end
TWO.put("end", 1)
