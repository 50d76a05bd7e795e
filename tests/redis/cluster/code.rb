# Code segments whose inputs and outputs are in a cluster: those of a run are in one slot. And the guide's examples about it.
require "kumihimo/segments"
require "kumihimo/jobs"
require_relative "../../support/guide"
S = Kumihimo::Segments
there = S.connect(ARGV[0])
THERE = there
other = S.connect(ARGV[0])

class Add < Kumihimo::CodeSegment
  input :a, take: "{sum}a", from: THERE
  input :b, take: "{sum}b", from: THERE
  dead_letters "{sum}dead", tries: 2

  def run
    put "{sum}", a + b, on: THERE
    put "{sum}log", [a, b], on: THERE
  end
end

repetition = Add.repeat(parallel: 4)
200.times { |i| other.put("{sum}a", i); there.put("{sum}b", 1000) }
p 200.times.map { other.take("{sum}", timeout: 20) }.sum
p other.size("{sum}log"), there.size("{sum}a")
other.put("{sum}a", nil)
other.put("{sum}b", 1)
p other.take("{sum}dead", timeout: 20)[:error].class
repetition.stop

# Keys of two slots.
class Both < Kumihimo::CodeSegment
  input :a, take: "a", from: THERE
  input :b, take: "b", from: THERE
  def run = nil
end
class Elsewhere < Kumihimo::CodeSegment
  input :a, take: "a", from: THERE
  def run = put("b", a, on: THERE)
end
there.put("a", 1)
$stderr = File.open(File::NULL, "w")
[Both, Elsewhere].each { |code| (code.start.join rescue puts "#{$!.class}: #{$!.message}") }
p there.size("a"), there.keys("a"), there.take("a")
(Kumihimo::Jobs.store = there) rescue puts "#{$!.class}: #{$!.message}"

# Many keys, and who waits under each.
keys = (1..60).map { |i| "reply#{i}" }
waits = keys.map { |key| Thread.new { there.take(key, timeout: 20) } }
keys.each { |key| other.put(key, key) }
p waits.map(&:value) == keys, there.keys("reply")
p there.key("many").from(1..2000), 2000.times.all? { |i| other.take("many") == i + 1 }

chapter = page("SEGMENTS")[/^#### On a cluster$.*?(?=^##)/m]
puts "#{check_examples(chapter.gsub(%r{"redis\+cluster:[^"]*"}, ARGV[0].inspect))} examples"
