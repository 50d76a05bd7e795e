# nodes: 2
# Threads that are killed while they take from another node: each segment is taken once, or is still there.
S = Kumihimo::Segments
if S.node == "node2"
  S.local.take("end")
  exit
end
there = S["node2"]
COUNT = 300
there.put_all("k", 1..COUNT)
taken = Thread::Queue.new
chance = Random.new(7)
400.times do
  taker = Thread.new do
    # What was taken is noted; a kill waits for the next blocking call.
    Thread.handle_interrupt(Object => :on_blocking) { taken << there.take("k") }
  end
  sleep chance.rand * 0.0004
  taker.kill
end
Thread.list.each { |thread| thread.join if thread != Thread.current && !thread.name }
left = []
ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 120
until taken.size + left.size >= COUNT || Process.clock_gettime(Process::CLOCK_MONOTONIC) > ends
  left << there.take("k", timeout: 1) rescue nil
end
all = Array.new(taken.size) { taken.pop } + left
puts "twice: #{all.size - all.uniq.size}, lost: #{((1..COUNT).to_a - all).inspect}"
there.put("end", true)
