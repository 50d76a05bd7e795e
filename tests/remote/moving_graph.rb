# nodes: 3
# Graphs over nodes that change all the time while collections over all nodes go on: nothing of them is lost.
R = Kumihimo::Remote
C = Kumihimo::Cluster
class Token
  include Kumihimo::Remote
  attr_accessor :to
  attr_reader :name
  def initialize(name = nil) = @name = name
  def make(name) = Token.new(name)
  def take
    to = @to
    @to = nil
    to
  end
end
# Holds tokens for another node.
class Slots
  include Kumihimo::Remote
  def initialize = @all = {}
  def put(i, token) = (@all[i] = token; nil)
  def take(i) = @all.delete(i)
end
Kumihimo::Segments.wait_for_nodes(3)
R.register("maker", Token.new)
R.register("slots", Slots.new)
C.barrier
makers = C.nodes.map { |n| R.find("maker", on: n) }
mine = C.nodes.index(C.self)
slots = R.find("slots", on: C.nodes[(mine + 1) % 3])
chance = Random.new(mine + 1)
# By slot, the names of the tokens in it, the first one holding the next.
chains = Array.new(12) { |i| ["#{C.self} #{i}"] }
chains.each_with_index { |(name), i| slots.put([mine, i], makers.sample(random: chance).make(name)) }
garbage = 0
ended = -> { GC.stat(:cluster)[:rounds_ended] }
clock = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
start = told = clock[]
# Whoever reads this takes a minute of silence for a hang.
$stdout.sync = true
until ended[] >= 3 || clock[] - start > 150
  if mine == 0 && clock[] - told > 20
    told = clock[]
    puts "waits"
  end
  20.times do
    i, j = [*0...12].sample(2, random: chance)
    if chance.rand(2) == 0 && !chains[i].empty? && !chains[j].empty?
      # The chain i is put behind the first one of chain j, which has none yet.
      next unless chains[j].size == 1
      front = slots.take([mine, j])
      front.to = slots.take([mine, i])
      slots.put([mine, j], front)
      chains[j] += chains[i]
      chains[i] = []
    elsif chains[i].size > 1 && chains[j].empty?
      front = slots.take([mine, i])
      slots.put([mine, j], front.take)
      slots.put([mine, i], front)
      chains[j] = chains[i].drop(1)
      chains[i] = chains[i].take(1)
    elsif chains[j].empty? && !chains[i].empty?
      slots.put([mine, j], slots.take([mine, i]))
      chains[i], chains[j] = chains[j], chains[i]
    end
  end
  a, b = makers.sample(2, random: chance).map { |m| m.make("garbage") }
  a.to, b.to = b, a
  garbage += 1
end
a = b = front = nil
wrong = 0
chains.each_with_index do |chain, i|
  next if chain.empty?
  token = slots.take([mine, i])
  chain.each do |name|
    wrong += 1 unless token.name == name
    token = token.to
  end
  wrong += 1 if token
rescue => error
  warn "#{C.self}: #{error.class} #{error.message}"
  wrong += 1
end
sum = C.reduce([wrong, ended[] >= 3 ? 0 : 1, garbage.clamp(0, 1)]) { |x, y| x.zip(y).map(&:sum) }
p sum if mine == 0
C.barrier
