# A thread that many join, some for a limited time only: each is told of its end once, whoever came first or gave up.
gate = Queue.new
t = Thread.new { gate.pop }
p t.join(0.001)
late = Array.new(3) { Thread.new { t.join(0.01) } }
p late.map(&:value)
all = Array.new(20) { |i| Thread.new { i.even? ? t.join.equal?(t) : t.join(60).equal?(t) } }
Thread.pass until all.all?(&:stop?)
gone = all.pop(5).each(&:kill)
p gone.map { |x| x.join && x.status }
gate << 42
p all.map(&:value).uniq, t.value
p t.join.equal?(t), t.join(0).equal?(t)

# The first to wait gives up while another waits, and waits again.
gate = Queue.new
t = Thread.new { gate.pop }
gave_up = Queue.new
first = Thread.new { t.join(0.01).nil?.tap { gave_up << 1 } && t.join.equal?(t) }
second = Thread.new { t.join.equal?(t) }
p first.join(0.05), second.join(0.01)
gave_up.pop
gate << 1
p first.value, second.value

# Threads that end while others start: their places are used again, and no name of an old one finds a new one.
rounds = Array.new(4) do
  Thread.new do
    before = nil
    500.times.sum do |i|
      now = Thread.new(i) { |x| x + 1 }
      raise "revived" if before&.alive?
      (before = now).value
    end
  end
end
p rounds.map(&:value).uniq
alone = nil
sum = 3000.times.sum do |i|
  raise "revived" if alone&.status
  (alone = Thread.new { i }).value
end
p sum
