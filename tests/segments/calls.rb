# Every call of a manager and of a key, what it gives, and what it says to arguments that it cannot use.
require "kumihimo/segments"
ds = Kumihimo::Segments.local
S = Kumihimo::Segments

def tell(label)
  value = yield
  puts "#{label}: #{value.inspect.gsub(/0x\h+/, "0x")}"
rescue Exception => e
  puts "#{label}: #{e.class}: #{e.message.gsub(/0x\h+/, "0x")}"
end

puts "-- put, update, peek, take"
tell("put") { ds.put("n", 1) }
tell("put") { ds.put("n", 2) }
tell("size") { ds.size("n") }
tell("peek") { ds.peek("n") }
tell("update") { ds.update("n", 3) }
tell("peek") { ds.peek("n") }
tell("take") { ds.take("n") }
tell("take") { ds.take("n") }
tell("size") { ds.size("n") }
tell("update where there is none") { ds.update("n", 4) }
tell("take") { ds.take("n") }
tell("stat") { ds.stat("n") }

puts "-- forms that do not wait"
tell("take?") { ds.take?("n") }
tell("peek?") { ds.peek?("n") }
tell("take? with a default") { ds.take?("n", :none) }
tell("peek? with a default") { ds.peek?("n", :none) }
ds.put("n", 5)
tell("peek?") { ds.peek?("n", :none) }
tell("take?") { ds.take?("n", :none) }
[nil, false].each { |value| ds.put("n", value) }
tell("nil is a value") { ds.take?("n", :none) }
tell("false is a value") { ds.peek("n") }
tell("false is a value") { ds.take("n") }

puts "-- time-outs"
tell("take") { ds.take("n", timeout: 0.01) }
tell("peek") { ds.peek("n", timeout: 0) }
tell("take_segment") { ds.take_segment("n", timeout: 0.01) }
tell("peek_segment") { ds.peek_segment("n", timeout: 0.01) }
tell("a time-out below 0") { ds.take("n", timeout: -1) }
tell("a time-out that is no number") { ds.take("n", timeout: "soon") }
tell("put with such a one") { ds.put("full", 1); ds.limit("full", 1).put("full", 2, timeout: "soon") }
tell("nobody waits") { [ds.stat("n"), ds.limit("full", nil).stat("full"), ds.take("full")] }
tell("nobody waits") { ds.stat("n").slice(:waiting, :leased) }
tell("what a time-out raises") { S::TimeoutError.ancestors.take(3) }

puts "-- whole segments"
ds.put("n", "text")
tell("peek_segment") { ds.peek_segment("n") }
segment = ds.take_segment("n")
tell("take_segment") { segment }
tell("its parts") { [segment.key, segment.index, segment.value, segment.owned?, segment.shared?, segment.changed?, segment.deliveries] }
tell("frozen") { segment.value.frozen? }

puts "-- a key"
key = ds.key("k")
tell("key") { key }
tell("its name") { [key.name, key.to_s, "#{key}"] }
tell("the same key") { [ds["k"] == key, ds.key(:k) == key, ds[key] == key, ds.key("l") == key, key.eql?(ds["k"]), key.hash == ds["k"].hash, key == "k"] }
tell("in a Hash") { { key => 1 }[ds[:k]] }
tell("frozen, shareable") { [key.frozen?, Ractor.shareable?(key)] }
tell("put") { key.put(1) }
tell("put?") { key.put?(2) }
tell("update") { key.update(3) }
tell("size") { key.size }
tell("peek") { key.peek }
tell("peek after") { key.peek(after: 2) }
tell("peek?") { key.peek?(:none) }
tell("peek? after") { key.peek?(:none, after: 3) }
tell("peek_segment") { key.peek_segment }
tell("take_segment") { key.take_segment }
tell("take") { key.take }
tell("take?") { key.take?(:none) }
tell("take? with a default that is false") { key.take?(false) }
tell("take in no time") { key.take(timeout: 0.001) }
tell("stat") { key.stat }
tell("by its name") { ds.put(key, 4) and ds.take("k") }
tell("Key.new") { S::Key.new }
tell("Manager.new") { S::Manager.new }
tell("dup") { [key.dup == key, key.clone.name] }
tell("Marshal") { Marshal.dump(key) }

puts "-- names of keys"
tell("a Symbol is the same key") { ds.put(:sym, 1) && ds.take("sym") }
tell("keys") { ds.keys }
%w[b.2 b.10 a c].each { |name| ds.put(name, 0) }
tell("keys") { ds.keys }
tell("keys by prefix") { ds.keys("b.") }
tell("keys by no prefix") { ds.keys("") }
tell("keys by a Symbol") { ds.keys(:a) }
tell("keys of another type") { ds.keys(1) }
%w[b.2 b.10 a c].each { |name| ds.take(name) }
tell("no keys") { ds.keys }
tell("an empty name") { ds.put("", 1) && [ds.keys, ds.take("")] }
tell("odd bytes") { ds.put("a\0b\xff\n", 1) && [ds.keys, ds.keys[0].encoding, ds.take("a\0b\xff\n")] }
tell("letters") { ds.put("鍵", 1) && [ds.keys, ds.keys[0].encoding, ds.take("鍵".b)] }
big = "x" * 1_000_000
tell("a megabyte") { ds.put(big, 1) && [ds.keys[0].size, ds.take(big.dup)] }
tell("a name that changes") do
  name = +"first"
  ds.put(name, 1)
  name << "!"
  [ds.keys, ds.take("first")]
end
[nil, 1, 1.5, [], {}, Object, true].each { |name| tell("a key that is #{name.inspect}") { ds.put(name, 1) } }
tell("take of a key that is none") { ds.take(7) }
tell("key of another type") { ds.key(nil) }
tell("size of another type") { ds.size([]) }
class Text < String; end
tell("a subclass of String") { ds.put(Text.new("t"), 1) && ds.take("t") }

puts "-- limits"
tell("limit") { ds.limit("l", 2) }
tell("limit of a key") { ds.key("l").limit(2) }
tell("put") { [ds.put("l", 1), ds.put("l", 2)] }
tell("put where it is full") { ds.put("l", 3, timeout: 0.01) }
tell("put?") { ds.put?("l", 3) }
tell("put? of a key") { ds.key("l").put?(3) }
tell("update has room") { ds.update("l", 4) }
tell("stat") { ds.stat("l") }
tell("no limit") { ds.limit("l", nil) && ds.put("l", 5) }
3.times { ds.take("l") }
[0, -1, 1.5, "2", true, 2**70].each { |n| tell("a limit of #{n.inspect}") { ds.limit("l", n) } }

puts "-- arguments"
tell("put without a value") { ds.put("n") }
tell("put of too much") { ds.put("n", 1, 2) }
tell("an unknown keyword") { ds.put("n", 1, later: 2) }
tell("after: -1") { ds.take("n", after: -1) }
tell("after: text") { ds.take("n", after: "1") }
tell("after: 1.0") { ds.peek?("n", after: 1.0) }
tell("after: huge") { ds.peek?("n", after: 2**70) }
tell("after what was not given out") { ds.peek?("n", after: 1000) }
tell("after what was not given out") { ds.take("n", after: 1000, timeout: 1) }
tell("a Hash as the value") { ds.put("n", { a: 1 }) && ds.take("n") }
tell("keywords are no value") { ds.put("n", a: 1) }
tell("ttl of the wrong kind") { ds.put("n", 1, ttl: "x") }
tell("ttl below 0") { ds.put("n", 1, ttl: -1) }
tell("ttl of a type") { ds.put("n", 1, ttl: []) }
tell("not_before of a type") { ds.put("n", 1, not_before: []) }
tell("ttl NaN") { ds.put("n", 1, ttl: Float::NAN) }
tell("ttl infinite") { ds.put("n", 1, ttl: Float::INFINITY) }
tell("the queue") { [ds.size("n"), ds.stat("n")[:delayed]] }
tell("inspect") { ds }
tell("ttl a text that is a number") { ds.put("n", 1, ttl: "1") }
tell("ttl of long ages") { ds.put("n", 1, ttl: 10**30) && ds.take("n") }
tell("ttl a Rational") { ds.put("n", 1, ttl: 100r) && ds.take("n") }
tell("ttl a Complex") { ds.put("n", 1, ttl: 1i) }
tell("not_before in long ages") { [ds.put("later", 1, not_before: Time.now + 10**12), ds.stat("later")[:delayed]] }
tell("not_before false") { ds.put("n", 1, not_before: false) }
