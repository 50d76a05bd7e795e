# nodes: 3
# Many threads move one object to and fro, and call it meanwhile, by its own methods and from elsewhere: each call is done once, each move
# ends, whoever is killed or late.
R = Kumihimo::Remote
S = Kumihimo::Segments
NODES = %w[node1 node2 node3]

class Tally
  include R::Movable
  def initialize = (@n = 0; @lock = Mutex.new)
  attr_reader :n
  def add = @lock.synchronize { @n += 1 }
  def go(node) = (move_to(node); :gone)
  def raises = raise(IndexError, "here")
  def ends = Thread.exit
  def late = R.find("nobody", on: "node2")
  def marshal_dump = @n
  def marshal_load(n) = (@n = n; @lock = Mutex.new)
end

class Hand
  include R
  def make = Tally.new
  def add(tally, times) = times.times.count { tally.add }
  def move(tally, node) = (tally.move_to(node); 1)
end

R.register("hand", Hand.new)
unless S.node == "node1"
  S.local.take("end")
  exit
end
HANDS = NODES.to_h { |node| [node, R.find("hand", on: node)] }

def ended(threads)
  over = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 60
  threads.map { |t| t.join([over - Process.clock_gettime(Process::CLOCK_MONOTONIC), 0].max) ? t.value : :waits }
end

def threads(count, dice)
  seeds = Array.new(count) { dice.rand(1 << 30) }
  seeds.map do |seed|
    Thread.new do
      yield Random.new(seed)
    rescue StandardError => error
      "#{error.class}: #{error.message}"
    end
  end
end

puts "all at once, by its own methods"
right = 20.times.count do |round|
  tally = Tally.new
  # Two of each that want the same, and none is in the way of another.
  all = %i[move_to go].flat_map { |how| NODES.map { |node| Thread.new { tally.public_send(how, node) && :moved rescue $!.class } } }
  ended(all).none?(:waits) && tally.n.zero? || p(ended(all))
end
p right

puts "by chance"
dice = Random.new(7)
right = 8.times.count do
  tally = Tally.new
  adds = threads(5, dice) { 20.times { tally.add } && 20 }
  adds += threads(2, dice) { |d| HANDS[NODES[1 + d.rand(2)]].add(tally, 30) }
  others = threads(3, dice) do |d|
    8.times do
      to = NODES.sample(random: d)
      case d.rand(3)
      when 0 then tally.move_to(to)
      when 1 then HANDS[NODES.sample(random: d)].move(tally, to)
      when 2 then (R.within(d.rand * 0.02) { tally.move_to(to) } rescue R::TimeoutError === $! || raise)
      end
    end
    :moved
  end
  others += threads(2, dice) do |d|
    8.times do
      moves = Thread.new { tally.move_to(NODES.sample(random: d)) }
      sleep d.rand * 0.002
      moves.kill.join
    end
    :killed
  end
  done = ended(adds)
  also = ended(others)
  done.all?(Integer) && (also - %i[moved killed]).empty? && tally.n == done.sum || p(done, also)
end
p right
puts "futures of one that has come here, by a reference from before"
reference = HANDS["node2"].make
come = reference.move_to("node1")
p Tally === come, R.reference?(reference)
p 200.times.map { reference.async.raises }.map { |f| f.value rescue $!.class }.uniq, 50.times.map { reference.async.add }.map(&:value).sort == [*1..50]
p (reference.async.ends.value rescue $!.class), (reference.within(0.05).async.late.value rescue $!.class)
(NODES - ["node1"]).each { |node| S[node].put("end", 1) }
