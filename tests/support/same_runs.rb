# Random code segments with inputs of this node, of another and of a file, which have to come to the same.
S = Kumihimo::Segments
VALUES = [1, "s", :y, [1, 2], { a: 1 }, nil, "x" * 20_000].freeze
KEYS = %w[a b c].freeze

# Inputs, each a name, what it does, a key and the index behind which it looks; and what the run does.
def plan(chance)
  inputs = Array.new(chance.rand(1..3)) do |i|
    # What is peeked at is shared.
    kind = chance.rand(3) == 0 ? [:peek, "p"] : [:take, KEYS.sample(random: chance)]
    [:"i#{i}", *kind]
  end
  acts = Array.new(chance.rand(4)) do
    input, key, value = inputs.sample(random: chance)[0], KEYS.sample(random: chance), VALUES.sample(random: chance)
    case chance.rand(14)
    when 0, 1 then [:put, key, value, chance.rand(2) == 0]
    when 2 then [:update, key, value]
    when 3, 4, 5 then [:flip, input, [nil, *KEYS].sample(random: chance), chance.rand(3) == 0]
    when 6, 7 then [:put_on, input, key]
    when 8 then [:change, input]
    when 9 then [:look, input]
    when 10 then [:later, key, value]
    when 11 then [:raise]
    when 12 then [:leave]
    else [:return]
    end
  end
  [inputs, acts]
end

def copied(value) = Marshal.load(Marshal.dump(value))

# A code segment of a plan whose inputs and outputs are there. `seen` gets what its inputs show.
def made(inputs, acts, there, seen)
  Class.new(Kumihimo::CodeSegment) do
    inputs.each { |name, kind, key| input name, kind => key, from: there }
    define_method(:run) do
      seen.concat(inputs.map { |name,| input(name).then { |s| [name, s.key, s.index, copied(s.value), s.owned?, s.changed?, s.deliveries] } })
      acts.each do |act, name, *rest|
        case act
        when :put then put name, copied(rest[0]), move: rest[1], on: there
        when :update then update name, copied(rest[0]), on: there
        when :flip then flip name, to: rest[0], update: rest[1]
        when :put_on then put rest[0], public_send(name), move: true, on: there
        when :change then public_send(name) << 9
        when :look then seen << input(name).value.hash
        when :later then put name, copied(rest[0]), not_before: 0, ttl: 1000, on: there
        when :raise then raise "no"
        when :leave then Thread.exit
        when :return then return
        end
      end
    end
  end
end

# What a run of it comes to: whether it ends or how it fails, what it saw, and what is under the keys then.
def outcome(inputs, acts, manager, there)
  seen = []
  ends =
    begin
      made(inputs, acts, there, seen).start.join
      :ended
    rescue StandardError => error
      error.class
    end
  left = [*KEYS, "p"].map { |key| manager.stat(key).values_at(:segments, :leased, :waiting, :last_index) }
  [ends, seen, left]
end

# Would it wait for ever?
def waits?(inputs)
  takes = inputs.select { |_, kind, _| kind == :take }.map(&:last).tally
  takes.any? { |key, n| S.local.size(key) < n } || inputs.any? { |_, kind, key| kind == :peek && S.local.size(key) == 0 }
end

def same_runs(others, seed, steps)
  chance = Random.new(seed)
  managers = { "here" => [S.local, nil], **others.transform_values { |manager| [manager, manager] } }
  done = Hash.new(0)
  steps.times do |step|
    given = Array.new(4) { [KEYS.sample(random: chance), VALUES.sample(random: chance), chance.rand(2) == 0] }
    given << ["p", VALUES.sample(random: chance), false]
    managers.each_value { |manager, _| given.each { |key, value, move| manager.put(key, copied(value), move:) } }
    inputs, acts = plan(chance)
    next if waits?(inputs)
    want, *found = managers.map { |_, (manager, there)| outcome(inputs, acts, manager, there) }
    found.zip(others.keys) { |f, where| puts "#{step}, #{inputs} #{acts.inspect[0, 200]}: #{want.inspect[0, 300]}, at #{where} #{f.inspect[0, 300]}" if f != want }
    done[want[0]] += 1
    # What is left stands there in the same order.
    next unless step % 20 == 19
    rest = managers.map { |_, (manager, _)| [*KEYS, "p"].map { |key| Array.new(manager.size(key)) { manager.take_segment(key) }.map { |s| [s.index, s.value, s.owned?, s.changed?, s.deliveries] } } }
    puts "left after #{step}: #{rest.map { |r| r.inspect[0, 300] }}" if rest.uniq.size > 1
  end
  p done.values.sum > steps / 2, done.keys.map(&:to_s).sort
end
