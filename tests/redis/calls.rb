# The calls of a store's manager: as of a node's (tests/nodes/calls.rb).
require "kumihimo/segments"
S = Kumihimo::Segments
there = S.connect(ARGV[0])
other = S.connect(ARGV[0])

def show(what)
  puts "#{what}: #{yield.inspect}"
rescue StandardError => error
  puts "#{what}: #{error.class.name.delete_prefix("Kumihimo::Segments::")}: #{error.message}"
end

show("names") { [there, there.key("k")] }
show("put") { [there.put("k", 1), there.put("k", 2)] }
show("update") { there.update("k", 3) }
show("peek") { there.peek_segment("k") }
show("keys are names") { [there.peek(:k), there["k"].peek, there.key(:k).peek] }
show("take after") { there.take_segment("k", after: 1).index }
show("take") { there.take("k") }
show("nothing") { [there.peek?("k"), there.take?("k", :none)] }
show("too late") { there.take("k", timeout: 0.05) }
show("index of nobody") { there.peek("k", after: 4) }
show("index that is none") { there.peek("k", after: "1") }
show("size") { there.size("k") }

there.limit("few", 2)
show("limit") { [there.put("few", 1), there.put("few", 2), there.put?("few", 3)] }
show("no room") { there.put("few", 3, timeout: 0.05) }
show("stat") { there.stat("few") }
waits = Thread.new { there.put("few", 3) }
show("keys") { there.put("few.more", 1); there.keys("few") }
show("room") { [there.take("few"), waits.value, there.take("few"), there.take("few")] }

show("not yet") { [there.put("later", 1, not_before: 0.1), there.take?("later")] }
show("due") { there.take("later", timeout: 20) }
show("short life") { there.put("short", 1, ttl: 0.02); sleep 0.2; there.peek?("short") }
show("negative ttl") { there.put("short", 1, ttl: -1) }

show("a list") { there.key("list").from(1..2000) }
show("order") { (1..2000).all? { |i| there.take("list", timeout: 20) == i } }
show("order of threads") do
  4.times.map { |t| Thread.new { 100.times { |i| there.put("mixed", [t, i]) } } }.each(&:join)
  400.times.map { other.take("mixed") }.group_by(&:first).values.map { |of| of.map(&:last) == (0...100).to_a }
end
show("a waiting take") { waits = Thread.new { other.take("q", timeout: 20) }; sleep 0.05; there.put("q", 1); waits.value }
show("twenty that wait") do
  all = (1..20).map { |i| Thread.new { there.take("reply #{i}", timeout: 20) } }
  (1..20).each { |i| other.put("reply #{i}", i) }
  all.map(&:value).uniq.size
end
show("a take that was given up") do
  waits = Thread.new { there.take("left", timeout: 0.01) }
  waits.report_on_exception = false
  waits.join rescue nil
  there.put("left", :it)
  there.take("left", timeout: 20)
end
show("takers that are killed take nothing") do
  50.times do |i|
    there.put("killed", i)
    taker = Thread.new { there.take("killed") ; Thread.current[:had] = true }
    sleep rand * 0.002
    taker.kill.join
    there.put("killed", i) if taker[:had]
  end
  deadline = Time.now + 20
  sleep 0.01 until there.size("killed") == 50 || Time.now > deadline
  there.size("killed")
end

show("owned") { there.put("own", [3, 1, 2], move: true); there.take_segment("own") }
show("owned, changed") { there.put("own", [3, 1, 2], move: true); there.take("own").sort! }
show("owned is not shared") { there.put("own", "mine".dup, move: true); [there.take?("other"), there.peek("own")] }
show("owned stays") { there.take("own", timeout: 20) << "!" }
show("shared") { there.put("shared", ["a"]); there.take("shared").frozen? }
show("closed") { key = there.key("closed"); key.from([1, 2]); key.close; key.to_a }
Point = Struct.new(:x, :y)
show("values") { there.put("v", [nil, 2**70, 1.5, :a, "ä", Point.new(1, 2), { a: 1..2 }]); other.take("v") }
show("what can't travel") { there.put("v", [proc {}]) }

show("no key") { there.put(nil, 1) }
show("no key") { there.key(3) }
show("a long key") { there.put("k" * 2000, 1) }
show("no limit") { there.limit("few", 0) }

apart = S.connect(ARGV[0], namespace: "apart")
show("namespaces") { there.put("k", 1); [apart.keys, apart.take?("k"), there.take("k")] }
show("no namespace") { S.connect(ARGV[0], namespace: "a b") }
show("no address") { S.connect("somewhere") }
show("nobody there") { S.connect("redis://127.0.0.1:1", timeout: 0.1) }
waits = Thread.new { show("who waits when it is closed") { apart.take("k") } }
sleep 0.05
apart.close
waits.join
show("closed") { apart.put("k", 1) }
