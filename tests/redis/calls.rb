# The calls of a store's manager.
require "kumihimo/segments"
require_relative "../support/calls"
S = Kumihimo::Segments
there = S.connect(ARGV[0])
other = S.connect(ARGV[0])

show("names") { [there, there.key("k")] }
calls(there, other) { |key| Thread.new { sleep 0.05; other.put(key, "answer to #{key}") } }

apart = S.connect(ARGV[0], namespace: "apart")
show("namespaces") { there.put("k", 1); [apart.keys, apart.take?("k"), there.take("k")] }
show("no namespace") { S.connect(ARGV[0], namespace: "a b") }
show("no address") { S.connect("somewhere") }
show("nobody there") { S.connect("redis://127.0.0.1:1", timeout: 2) }
there.put("brief", 1, not_before: 0.02, ttl: 0.02)
sleep 0.2
show("what nobody looked at while it was there") { [there.take?("brief"), there.stat("brief")[:last_index]] }
waits = Thread.new { show("who waits when it is closed") { apart.take("k") } }
Thread.pass until waits.stop?
apart.close
waits.join
show("closed") { apart.put("k", 1) }
