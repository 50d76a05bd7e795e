# Values that other threads change while they are encoded: what comes out is whole, whatever it says.
require "kumihimo/segments"

def encode(value) = Kumihimo::Segments.encode(value)
def decode(bytes, freeze = false, symbols = nil) = Kumihimo::Segments.decode(bytes, freeze:, symbols:)

Point = Struct.new(:x, :y)
array = Array.new(100) { |i| i }
hash = (0...50).to_h { |i| [i, i.to_s] }
text = "ä" * 50
set = Set.new(0...30)
point = Point.new([], {})
root = [array, hash, text, set, point, [array, [hash]]]

stop = false
changers = [
  -> { array.push([array.size, "x"]); array.shift(3) if array.size > 200 },
  -> { array.replace(Array.new(rand(100)) { |i| i.odd? ? i : [i] }) },
  -> { hash[rand(100)] = [rand(10)] * 3; hash.delete(rand(100)) },
  -> { hash.clear if rand(50) == 0; hash.compare_by_identity if hash.empty? && rand(9) == 0 },
  -> { text << "é" << rand(256).chr; text.replace("x" * rand(5000)) if text.size > 6000 },
  -> { text.force_encoding(["UTF-8", "BINARY", "ISO-8859-1"].sample) },
  -> { set.add(rand(100)); set.delete(rand(100)) },
  -> { point.x = Array.new(rand(20)); point.y = { 1 => rand(10) } },
]
threads = changers.map do |change|
  Thread.new do
    until stop
      begin
        100.times { change.call }
      rescue EncodingError, ArgumentError, RuntimeError
        text.replace("y")
      end
      Thread.pass
    end
  end
end

limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + Float(ENV.fetch("KUMI_TEST_SECONDS", "1.5"))
count = 0
begin
  back = decode(encode(root), count.odd?)
  unless back.size == 6 && back[0].is_a?(Array) && back[1].is_a?(Hash) && back[2].is_a?(String) && back[3].is_a?(Set) && back[4].is_a?(Point)
    puts "came out as #{back.inspect}"
  end
  count += 1
end until Process.clock_gettime(Process::CLOCK_MONOTONIC) > limit
stop = true
threads.each(&:join)
p count.positive?
