# The end of a key stands where it was put, whatever becomes of those who come to it.
require "kumihimo/segments"
ds = Kumihimo::Segments.local
rows = ds.key("rows")

# Readers that are killed wherever they are.
200.times do |round|
  readers = 3.times.map { Thread.new { rows.each { |row| Thread.pass } } }
  feeder = Thread.new do
    rows.put(1)
    rows.close
  end
  Thread.pass until rows.size.zero? || rows.stat[:last_index] > round * 2
  readers.first(2).shuffle.each(&:kill)
  feeder.join
  # Whoever is left comes to the end, and so does who comes later.
  readers.each(&:join)
  rows.to_a
  raise "round #{round}: the end is lost" unless rows.size >= 1
  rows.take while rows.size > 0
end
puts "200 rounds"

# Its index stays, and nobody has taken it.
rows.put(:a)
rows.close
before = rows.peek_segment(after: rows.stat[:last_index] - 1)
p rows.to_a, rows.to_a, rows.first
p rows.peek_segment.index == before.index, rows.take_segment.deliveries

# What is put behind it is behind it, until somebody takes the end.
rows.put(1)
rows.close
rows.put(2)
p rows.to_a, rows.to_a, rows.size
rows.take
rows.close
p rows.to_a

# One that waits goes on to wait when the end is not for it.
rows.take
reader = Thread.new { rows.to_a }
Thread.pass until rows.stat[:waiting] == 1
rows.put(3, move: true)
rows.update(nil)
Thread.pass until rows.stat[:waiting] == 1
rows.close
p reader.value
