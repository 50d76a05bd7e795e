# Random calls that wait, at several managers, which have to end in the same order with the same.
S = Kumihimo::Segments
KEYS = %w[a b].freeze

# One manager, what waits there, and what has ended.
class Waits
  attr_reader :ended

  # counts: do numbers of who waits compare? Elsewhere what lacks several segments may wait under one of their keys.
  def initialize(prefix, manager, there, counts)
    @counts = counts
    @prefix = prefix
    @manager = manager
    @there = there
    @waits = {}
    @ended = []
  end

  def key(name) = @manager.key(@prefix + name)

  # A call that may wait, as number `n`.
  def start(n, what, name, argument)
    key = key(name)
    @waits[n] =
      case what
      when :run then run(n, [[:take, name], *argument])
      when :take then wait(n) { key.take(after: argument) }
      when :peek then wait(n) { key.peek(after: argument) }
      when :take_segment then wait(n) { key.take_segment(after: argument).then { |s| [s.index, s.value, s.owned?, s.deliveries] } }
      when :put then wait(n) { key.put("p#{n}") }
      end
  end

  def leave(n) = @waits[n]&.then { |w| w.is_a?(Thread) ? w.kill : w.cancel }
  def waiting = @waits.select { |_, w| w.is_a?(Thread) ? w.alive? : !w.ended? }.keys
  def still? = @waits.values.all? { |w| !w.is_a?(Thread) || !w.alive? || w.status == "sleep" }
  def stats = KEYS.map { |name| key(name).stat.values_at(:segments, :leased, :waiting_puts, :last_index, :limit, *(:waiting if @counts)) }
  def now = [@ended.sort_by(&:inspect), waiting, stats]

  # Has whatever waits come there? Until then nothing has an order.
  def there? = @counts || KEYS.sum { |name| key(name).stat.values_at(:waiting, :waiting_puts).sum } == waiting.size

  # Everything ends: what is left.
  def finish
    @waits.each_key { |n| leave(n) }
    KEYS.map { |name| key(name).limit(nil) && Array.new(key(name).size) { key(name).take_segment }.map { |s| [s.index, s.value, s.deliveries] } }
  end

  private

  def wait(n)
    Thread.new do
      found = yield
      @ended << [n, found]
    rescue StandardError => error
      @ended << [n, error.class]
    end
  end

  def run(n, inputs)
    ended, there, prefix = @ended, @there, @prefix
    Class.new(Kumihimo::CodeSegment) do
      inputs.each_with_index { |(kind, name), i| input :"i#{i}", kind => prefix + name, from: there }
      define_method(:run) { ended << [n, inputs.each_index.map { |i| public_send(:"i#{i}") }] }
    end.start
  end
end

# What is done next: something that may wait, or what ends a wait.
def step(chance, n)
  name = KEYS.sample(random: chance)
  case chance.rand(16)
  when 0, 1 then [:take, name, [nil, nil, nil, 0, 2].sample(random: chance)]
  when 2 then [:peek, name, [nil, nil, 0, 1, 9].sample(random: chance)]
  when 3 then [:take_segment, name, nil]
  when 4, 5 then [:run, name, Array.new(chance.rand(3)) { [%i[take peek].sample(random: chance), KEYS.sample(random: chance)] }]
  when 6..8 then [:put, name, nil]
  when 9, 10 then [:update, name, n]
  when 11, 12 then [:take?, name, nil]
  when 13 then [:limit, name, [nil, 1, 2, 3].sample(random: chance)]
  else [:leave, name, chance.rand(n + 1)]
  end
end

def do_step(at, n, what, name, argument)
  case what
  when :update then at.key(name).update("u#{argument}")
  when :take? then at.key(name).take?(:none)
  when :limit then at.key(name).limit(argument) && nil
  when :leave then at.leave(argument) && nil
  else at.start(n, what, name, argument) && nil
  end
end

def same_waits(others, seed, steps, counts: true)
  chance = Random.new(seed)
  all = [["here", S.local, nil], *others.map { |what, m| [what, m, m] }].each_with_index.map { |(what, *m), i| [what, Waits.new("{#{i}.#{seed}}", *m, counts)] }
  here = all[0][1]
  good = true
  steps.times do |n|
    what, name, argument = step(chance, n)
    want = do_step(here, n, what, name, argument)
    S.settle
    sleep 0.001 until here.still?
    S.settle
    wanted = here.now
    all.drop(1).each do |where, at|
      found = do_step(at, n, what, name, argument)
      puts "#{n}, #{what} #{name} #{argument}: #{want.inspect}, at #{where} #{found.inspect}" if found != want
      ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 5
      sleep 0.001 until at.now == wanted && at.there? || Process.clock_gettime(Process::CLOCK_MONOTONIC) > ends
      next if (now = at.now) == wanted
      a, b = wanted[0] - now[0], now[0] - wanted[0]
      puts "#{n}, #{what} #{name} #{argument.inspect}: #{a} #{wanted.drop(1)}, at #{where} #{b} #{now.drop(1)}"
      good = false
    end
    break unless good
  end
  sleep 0.001 until all.each { |_, at| at.waiting.each { |n| at.leave(n) } }.all? { |_, at| at.waiting.empty? }
  left = all.map { |_, at| at.finish }
  puts "left: #{left.map(&:inspect)}" if good && left.uniq.size > 1
  p here.ended.size > steps / 4
end
