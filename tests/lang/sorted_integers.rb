# Integers of all shapes are sorted as a block would have them: even ones, few, far apart, in order but for one, and with others among them.
random = Random.new(7)
shapes = {
  even: ->(n) { Array.new(n) { random.rand(1 << 40) } },
  signed: ->(n) { Array.new(n) { random.rand(1 << 61) - (1 << 60) } },
  few: ->(n) { Array.new(n) { random.rand(3) } },
  low: ->(n) { Array.new(n) { random.rand(n) } },
  powers: ->(n) { Array.new(n) { 1 << random.rand(62) } },
  up: ->(n) { Array.new(n) { |i| i } },
  down: ->(n) { Array.new(n) { |i| -i } },
  two_runs: ->(n) { (0...n / 2).to_a + (0...n - n / 2).to_a },
  up_and_one: ->(n) { Array.new(n) { |i| i == n / 2 ? -1 : i } },
  even_and_far: ->(n) { Array.new(n) { |i| i == n / 3 ? (1 << 61) : random.rand(1000) } },
  ends: ->(n) { Array.new(n) { |i| [(1 << 62) - 1, -(1 << 62), 0, i].sample(random: random) } },
  with_a_big: ->(n) { Array.new(n) { |i| i == n / 2 ? 1 << 70 : random.rand(1 << 40) } },
  with_a_float: ->(n) { Array.new(n) { |i| i == n - 1 ? 0.5 : random.rand(1 << 40) } },
}
shapes.each do |name, shape|
  right = [0, 1, 2, 63, 64, 255, 256, 257, 1000, 5000, 30_000].count do |n|
    list = shape.call(n)
    given = list.dup
    want = list.sort { |a, b| a <=> b }
    sorted = list.sort
    list.sort!
    sorted == want && list == want && given.sort_by { |x| x } == want && given.minmax == [want.first, want.last]
  end
  puts "#{name}: #{right}"
end

list = Array.new(3000) { random.rand(1 << 30) }
p list.sort.frozen?, list.freeze.sort.size
begin
  list.sort!
rescue => e
  puts e.class
end
begin
  [*Array.new(3000) { random.rand(1 << 30) }, nil].sort!
rescue => e
  puts e.message
end

# A comparison of one's own is asked.
class Integer
  def <=>(other) = other - self
end
p Array.new(1000) { |i| i * 7919 % 1009 }.sort!.first(3)
