# Random code segments with inputs of this node, of another, of a file and of several of them, which have to come to the same.
S = Kumihimo::Segments
VALUES = [1, "s", :y, [1, 2], { a: 1 }, nil, "x" * 20_000].freeze
KEYS = %w[a b c].freeze

# Whose a key is, as code segments say it (nil: this node's), and what it is called there.
class Owners
  def initialize(prefix, all)
    @prefix = prefix
    @all = all
  end

  def of(key) = @all.fetch(key)
  def name(key) = key && @prefix + key
  def key(key) = (of(key) || S.local).key(name(key))
  # What became a dead letter. The order of runs is that of their letters.
  def letter = [S.local, *@all.values.compact].uniq.filter_map { |m| m.take?("dead") }[0]
end

# Inputs, each a name, what it does, a key, the index behind which it looks, and whether it gets them at run time; what the run does; and
# after how many tries what it took is a dead letter.
def plan(chance)
  inputs = Array.new(chance.rand(1..3)) do |i|
    kind = chance.rand(3) == 0 ? [:peek, "p"] : [:take, KEYS.sample(random: chance)]
    [:"i#{i}", *kind, i == 0 && chance.rand(4) == 0 ? chance.rand(30) : nil, chance.rand(4) == 0]
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
  [inputs, acts, [nil, nil, 1, 2].sample(random: chance)]
end

def copied(value) = Marshal.load(Marshal.dump(value))

# A code segment of a plan whose inputs and outputs are there. `seen` gets what its inputs show.
def made(inputs, acts, tries, owners, seen)
  Class.new(Kumihimo::CodeSegment) do
    inputs.each do |name, kind, key, after, late|
      late ? input(name, kind => nil) : input(name, kind => owners.name(key), after:, from: owners.of(key))
    end
    dead_letters "dead", tries: tries if tries
    define_method(:run) do
      seen.concat(inputs.map { |name,| input(name).then { |s| [name, s.index, copied(s.value), s.owned?, s.changed?, s.deliveries] } })
      acts.each do |act, name, *rest|
        case act
        when :put then put owners.name(name), copied(rest[0]), move: rest[1], on: owners.of(name)
        when :update then update owners.name(name), copied(rest[0]), on: owners.of(name)
        when :flip then flip name, to: owners.name(rest[0]), update: rest[1], on: owners.of(rest[0] || inputs.assoc(name)[2])
        when :put_on then put owners.name(rest[0]), public_send(name), move: true, on: owners.of(rest[0])
        when :change then public_send(name) << 9
        when :look then seen << input(name).value.hash
        when :later then put owners.name(name), copied(rest[0]), not_before: 0, ttl: 1000, on: owners.of(name)
        when :raise then raise "no"
        when :leave then Thread.exit
        when :return then return
        end
      end
    end
  end
end

# What a run of it comes to: whether it ends or how it fails, what it saw, and what is under the keys then.
def outcome(inputs, acts, tries, owners)
  seen = []
  ends =
    begin
      segment = made(inputs, acts, tries, owners, seen).new
      inputs.each { |name, _, key, after, late| segment.set_key(name, owners.name(key), after, from: owners.of(key)) if late }
      segment.start.join(timeout: 20)
      :ended
    rescue StandardError => error
      error.class
    end
  left = [*KEYS, "p"].map { |key| owners.key(key).stat.values_at(:segments, :leased, :waiting, :last_index) }
  letter = owners.letter
  letter = [*letter.values_at(:error, :tries, :inputs), letter[:keys].transform_values { |name,| name[-1] }] if letter
  [ends, seen, left, letter]
end

def brief(x) = x.inspect.gsub(/x{100,}/, "x..")[0, 500]

# Would it wait for ever?
def waits?(inputs, owners)
  takes = inputs.select { |_, kind, _| kind == :take }.map { |input| input[2] }.tally
  takes.any? { |key, n| owners.key(key).size < n } || inputs.any? do |_, _, key, after|
    owners.key(key).peek?(:none, after:) == :none
  rescue S::NotShared, S::StaleIndex
    false
  end
end

# `others`: by name the managers that have the keys, one for all of them or one each, nil for this node's.
def same_runs(others, seed, steps)
  chance = Random.new(seed)
  keys = [*KEYS, "p"]
  all = { "here" => nil, **others }.each_with_index.map { |(_, m), i| Owners.new("#{i}.", m.is_a?(Array) ? keys.zip(m).to_h : keys.to_h { |key| [key, m] }) }
  done = Hash.new(0)
  steps.times do |step|
    given = Array.new(4) { [KEYS.sample(random: chance), VALUES.sample(random: chance), chance.rand(2) == 0] }
    # What is owned can't be peeked at.
    value, move = VALUES.sample(random: chance), chance.rand(4) == 0
    all.each do |owners|
      given.each { |key, value, move| owners.key(key).put(copied(value), move:) }
      owners.key("p").update(copied(value), move:)
    end
    inputs, acts, tries = plan(chance)
    next if waits?(inputs, all[0])
    want, *found = all.map { |owners| outcome(inputs, acts, tries, owners) }
    found.zip(others.keys) { |f, where| puts "#{step}, #{inputs} #{tries} #{acts.inspect[0, 200]}: #{brief(want)}, at #{where} #{brief(f)}" if f != want }
    done[want[0]] += 1
    # What is left stands there in the same order.
    next unless step % 20 == 19
    rest = all.map do |owners|
      keys.map do |name|
        key = owners.key(name)
        Array.new(key.size) { key.take_segment }.map { |s| [s.index, s.value, s.owned?, s.changed?, s.deliveries] }
      end
    end
    puts "left after #{step}: #{rest.map { |r| brief(r) }}" if rest.uniq.size > 1
  end
  p done.values.sum > steps / 2, done.keys.map(&:to_s).sort
end
