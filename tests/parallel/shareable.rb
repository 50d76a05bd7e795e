# Graphs are made shareable while other threads change them, ask for them, and make them shareable too.
def frozen_below?(x, seen = {}.compare_by_identity)
  return true if seen[x]
  seen[x] = true
  return false unless x.frozen?
  case x
  when Array then x.all? { |y| frozen_below?(y, seen) }
  when Hash then x.all? { |k, v| frozen_below?(k, seen) && frozen_below?(v, seen) }
  else x.instance_variables.all? { |n| frozen_below?(x.instance_variable_get(n), seen) }
  end
end

class Box
  attr_accessor :held
  def initialize(held) = @held = held
end

rounds = Integer(ENV.fetch("ROUNDS", 12))
bad = []
done = 0
rounds.times do |round|
  inner = [+"a", +"b", { k: [+"v"] }]
  box = Box.new(inner)
  root = [inner, box, { list: inner, box: box }, [Box.new(+"c")]]
  go = false
  changes = 4.times.map do |i|
    Thread.new do
      Thread.pass until go
      n = 0
      begin
        loop do
          case (i + n) % 6
          when 0 then inner << [+"new"]
          when 1 then inner[1] = [+"stored"]
          when 2 then box.held = [inner, +"held"]
          when 3 then inner[2][n] = { n => +"x" }
          when 4 then root[3] << Box.new([+"more"])
          when 5 then inner[0] << "."
          end
          n += 1
          break if n > 5_000
        end
      rescue FrozenError
        n
      end
    end
  end
  sharers = 2.times.map do
    Thread.new do
      Thread.pass until go
      Thread.pass if round.odd?
      Ractor.make_shareable(root)
      bad << [:not_shareable, round] unless Ractor.shareable?(root)
      bad << [:unfrozen, round] unless frozen_below?(root)
    end
  end
  go = true
  sharers.each(&:join)
  changes.each(&:join)
  bad << [:unfrozen_later, round] unless frozen_below?(root) && Ractor.shareable?(inner) && Ractor.shareable?(box)
  done += 1
end
p done == rounds, bad.first(5)

# A part that cannot be shared: all that others see of the attempts is that it is not frozen.
root = [[+"a", [+"b", $stdout]], { k: [+"v"] }]
failed = 4.times.map do
  Thread.new do
    100.times.count do
      Ractor.make_shareable(root)
      false
    rescue Ractor::Error
      root[0][1][0] << "!"
      root[1][:n] = +"w"
      true
    end
  end
end
p failed.map(&:value), root[0][1][0].size, root.frozen?

# One is asked for often, by many.
shared = Ractor.make_shareable(Array.new(1000) { |i| { i => [i.to_s] } })
p 4.times.map { Thread.new { 2000.times.count { Ractor.shareable?(shared) && Ractor.make_shareable(shared).equal?(shared) } } }.map(&:value)
p 4.times.map { |t| Ractor.new(shared) { |s| s.sum { |h| h.size } } }.map(&:value)
