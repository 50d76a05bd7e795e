# Code segments whose inputs and outputs are in a cluster: those of a run are in one slot. And the guide's examples about it.
require "kumihimo/segments"
require "kumihimo/jobs"
require "stringio"
require "tmpdir"
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

# Beside inputs of others, which are not lost then, nor are outputs put.
FILE = S.open(File.join(Dir.mktmpdir, "s.db"))
class Mixed < Kumihimo::CodeSegment
  input :a, take: "a", from: FILE
  input :b, take: "b"
  input :c, take: "c", from: THERE
  def run
    put "out", a, on: FILE
    put "out", b
    put "d", c, on: THERE
  end
end
class Away < Kumihimo::CodeSegment
  input :a, take: "a", from: FILE
  def run
    put "out", a
    %w[c d].each { |key| put key, a, on: THERE }
  end
end
FILE.put("a", 1)
S.local.put("b", 2)
there.put("c", 3)
[Mixed, Away].each { |code| (code.start.join rescue puts "#{$!.class}: #{$!.message}") }
p FILE.take?("out"), S.local.take?("out"), there.take?("d"), FILE.take?("a"), S.local.take?("b"), there.take?("c")

# A dead letter that its input's step can't have.
class Buried < Kumihimo::CodeSegment
  input :a, take: "a", from: THERE
  dead_letters "dead", tries: 1
  def run = raise("no")
end
there.put("a", 1)
$stderr = StringIO.new
(Buried.start.join rescue puts "#{$!.class}: #{$!.message}, for #{$!.cause.message}")
puts $stderr.string[/^.*different slots/]
p there.size("a"), there.keys("dead")
$stderr = File.open(File::NULL, "w")
(Buried.repeat.join(timeout: 20) rescue puts "#{$!.class}: #{$!.message}")
p there.take("a"), there.keys("dead")

# Outputs that it can't have are no way to go on for ever.
class Fails < Kumihimo::CodeSegment
  input :a, take: "{a}a", from: THERE
  dead_letters "{a}dead", tries: 2
  def run = put("d", a, on: THERE)
end
there.put("{a}a", 1)
fails = Fails.repeat
puts there.take("{a}dead", timeout: 20).slice(:error, :tries)
fails.stop
p there.size("{a}a"), there.keys("d")
(Kumihimo::Jobs.store = there) rescue puts "#{$!.class}: #{$!.message}"

# Many keys, and who waits under each.
keys = (1..60).map { |i| "reply#{i}" }
waits = keys.map { |key| Thread.new { there.take(key, timeout: 20) } }
keys.each { |key| other.put(key, key) }
p waits.map(&:value) == keys, there.keys("reply")
p there.key("many").from(1..2000), 2000.times.all? { |i| other.take("many") == i + 1 }

chapter = page("SEGMENTS")[/^#### On a cluster$.*?(?=^##)/m]
puts "#{check_examples(chapter.gsub(%r{"redis\+cluster:[^"]*"}, ARGV[0].inspect))} examples"
