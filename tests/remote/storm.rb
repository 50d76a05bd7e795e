# nodes: 2
# Calls that are left in every way, at any moment: what goes on is right, and nobody is left waiting.
R = Kumihimo::Remote
class Left < StandardError; end
class There
  include Kumihimo::Remote
  def initialize = @lock = Mutex.new
  def next(n) = n + 1
  def waits(s) = (sleep s; :waited)
  def each(n) = n.times { |i| yield i }
  def ensures = (begin; sleep 100; ensure; @lock.synchronize { @ended = (@ended || 0) + 1 }; end)
  def back(other, n) = other.next(n)
  def make = There.new
end
if Kumihimo::Segments.node == "node2"
  R.register("there", There.new)
  Kumihimo::Segments.local.take("end")
  exit
end
there = R.find("there", on: "node2")
mine = There.new
wrong = Thread::Queue.new
threads = Array.new(8) do |t|
  Thread.new do
    chance = Random.new(t + 1)
    120.times do |i|
      short = chance.rand * 0.004
      begin
        case chance.rand(10)
        when 0 then there.within(short).waits(5)
        when 1 then R.within(short) { there.ensures }
        when 2 then there.each(9) { |x| break x if x == 3 }
        when 3 then there.each(9) { |x| raise Left if x == 2 }
        when 4
          caller = Thread.new { there.waits(5) }
          sleep short
          caller.kill.join
        when 5
          future = there.async.ensures
          sleep short
          future.cancel
        when 6 then there.within(short).each(50) { |x| there.next(x) }
        when 7 then there.async.waits(1)
        when 8 then wrong << [:back, i] unless there.back(mine, i) == i + 1
        when 9 then wrong << [:made, i] unless there.make.next(i) == i + 1
        end
      rescue R::TimeoutError, Left
        # As it was told.
      rescue StandardError => error
        wrong << [error.class, error.message]
      end
      wrong << [:next, i] unless there.next(i) == i + 1
    end
  end
end
threads.each(&:join)
puts "wrong: #{Array.new(wrong.size) { wrong.pop }.tally}"
p Kumihimo.all(Array.new(50) { |i| there.async.next(i) }).sum
Kumihimo::Segments["node2"].put("end", 1)
