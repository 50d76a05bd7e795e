# The calls of a manager, whoever owns the keys: another node (tests/nodes/calls.rb), a store on Redis (tests/redis/calls.rb), a
# file (tests/segments/store_calls.rb). `other` is the same owner for another caller. The block gives an answer for this name
# under a key of that name, from elsewhere and a little later.

# Each line has a time of its own where it is read.
$stdout.sync = true

def show(what)
  puts "#{what}: #{yield.inspect}"
rescue StandardError => error
  puts "#{what}: #{error.class.name.delete_prefix("Kumihimo::Segments::")}: #{error.message}"
end

Point = Struct.new(:x, :y)

def calls(there, other, &answer)
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

  show("not yet") { [there.put("later", 1, not_before: 600), there.take?("later")] }
  show("due") { there.put("soon", 1, not_before: 0.05); there.take("soon", timeout: 60) }
  show("short life") { there.put("short", 1, ttl: 0.02); sleep 0.2; there.peek?("short") }
  show("negative ttl") { there.put("short", 1, ttl: -1) }

  show("a list") { there.key("list").from(1..2000) }
  show("order") { (1..2000).all? { |i| there.take("list", timeout: 20) == i } }
  show("order of threads") do
    4.times.map { |t| Thread.new { 100.times { |i| there.put("mixed", [t, i]) } } }.each(&:join)
    400.times.map { other.take("mixed") }.group_by(&:first).values.map { |of| of.map(&:last) == (0...100).to_a }
  end
  show("a waiting take") { answer["q"]; there.take("q", timeout: 20) }
  show("twenty that wait") do
    all = (1..20).map { |i| Thread.new { there.take("reply #{i}", timeout: 20) } }
    (1..20).each { |i| answer["reply #{i}"] }
    all.map(&:value).uniq.size
  end
  show("a take that was given up") do
    answer["left"]
    begin
      there.take("left", timeout: 0.01)
    rescue S::TimeoutError
      there.take("left", timeout: 20)
    end
  end
  show("takers that are killed take nothing") do
    50.times do |i|
      there.put("killed", i)
      # A kill waits for the next blocking call, so what was taken is noted.
      taker = Thread.new { Thread.handle_interrupt(Object => :on_blocking) { there.take("killed"); Thread.current[:had] = true } }
      sleep rand * 0.002
      taker.kill.join
      there.put("killed", i) if taker[:had]
    end
    deadline = Time.now + 60
    sleep 0.01 until there.size("killed") == 50 || Time.now > deadline
    there.size("killed")
  end

  show("owned") { there.put("own", [3, 1, 2], move: true); there.take_segment("own") }
  show("owned, changed") { there.put("own", [3, 1, 2], move: true); there.take("own").sort! }
  show("owned is not shared") { there.put("own", "mine".dup, move: true); [there.take?("other"), there.peek("own")] }
  show("owned stays") { there.take("own", timeout: 20) << "!" }
  show("shared") { there.put("shared", ["a"]); there.take("shared").frozen? }
  show("closed") { key = there.key("closed"); key.from([1, 2]); key.close; key.to_a }
  show("many") do
    list = Array.new(200) { |i| [i, "x" * (i % 50 == 7 ? 40_000 : i)] }
    [there.put_all("many", list), Array.new(200) { there.take("many") } == list]
  end
  show("values") { there.put("v", [nil, 2**70, 1.5, :a, "ä", Point.new(1, 2), { a: 1..2 }]); other.take("v") }
  show("what can't travel") { there.put("v", [proc {}]) }

  show("no key") { there.put(nil, 1) }
  show("no key") { there.key(3) }
  show("a long key") { there.put("k" * 2000, 1) }
  show("no limit") { there.limit("few", 0) }
end
