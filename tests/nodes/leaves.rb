# nodes: 2
# A node that leaves while it waits for another says that it was this one that left.
require "kumihimo/segments"
S = Kumihimo::Segments
if S.node == "node1"
  waiting = Thread.new do
    S["node2"].take("never")
  rescue S::Error => e
    "#{e.class}: #{e.message}"
  end
  sleep 0.01 until S["node2"].stat("never")[:waiting] == 1
  S.leave
  puts waiting.value
  begin
    S["node2"].put("late", 1)
  rescue S::Error => e
    puts e.class
  end
else
  sleep 0.01 while S.nodes.include?("node1")
end
