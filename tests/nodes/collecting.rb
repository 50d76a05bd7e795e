# nodes: 2
# An owner that collects all the time: values that were never encoded are peeked at, taken, given back and taken again.
S = Kumihimo::Segments
COUNT = 300
Point = Struct.new(:x, :y)
# Made anew, so that nothing else keeps any part alive.
def value(i) = [i, "text #{i}", { id: i, "list" => [i.to_f / 3, i..i + 1, nil, true, 2**70 + i] }, :"sym#{i % 7}", i % 5 == 0 ? Point.new(i, "ü#{i}") : :plain]

if S.node == "node2"
  here = S.local
  garbage = Thread.new { loop { Array.new(200) { |i| [i, "garbage #{i}"] } } }
  collector = Thread.new { loop { GC.start } }
  COUNT.times { |i| %w[peek take back].each { |kind| here.put("#{kind}.#{i}", value(i)) } }
  here.put("ready", 1)
  here.take("look")
  # What a killed run had, came back as it was.
  wrong = (0...COUNT).reject { |i| here.take("back.#{i}", timeout: 20) == value(i) }
  here.put("wrong", wrong)
  here.take("end")
  [collector, garbage].each(&:kill)
  exit
end

there = S["node2"]
there.take("ready", timeout: 60)
puts "peeked: #{(0...COUNT).count { |i| there.peek("peek.#{i}") == value(i) }}"
puts "taken: #{(0...COUNT).count { |i| there.take("take.#{i}") == value(i) }}"
class Fails < Kumihimo::CodeSegment
  input :v, take: nil, from: "node2"
  def run = raise("no")
end
report, $stderr = $stderr, File.open(File::NULL, "w")
failed = (0...COUNT).map { |i| Fails.new.set_key(:v, "back.#{i}").start }
failed.each { |f| f.join rescue nil }
$stderr = report
puts "nobody else has any: #{(0...COUNT).all? { |i| there.size("back.#{i}") == 1 }}"
there.put("look", 1)
puts "came back wrong: #{there.take("wrong", timeout: 120)}"
there.put("end", 1)
