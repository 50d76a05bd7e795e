# A rule-based expert system: forward chaining with an agenda, facts indexed by kind and first argument, rules whose conditions
# are patterns with variables. Its two rule bases: kinship in a generated village (joins of facts), and the diagnosis of machines
# from their readings (pattern matching over structured facts, facts retracted and asserted again).
# usage: expert.rb [SIZE=40]
class Dice
  def initialize(seed) = @state = seed
  def below(n)
    @state = (@state * 1_103_515_245 + 12_345) & 0x7fffffff
    (@state >> 8) % n
  end
end

# What is held true: a kind and its arguments.
class Fact
  attr_reader :kind, :args, :age

  def initialize(kind, args, age)
    @kind = kind
    @args = args
    @age = age
  end

  def key = [@kind, *@args]
  def deconstruct = [@kind, *@args]
  def to_s = "#{@kind}(#{@args.join(", ")})"
end

# A condition of a rule: a kind, and arguments that are values or variables (symbols that begin with `?`).
class Pattern
  attr_reader :kind

  def initialize(kind, args)
    @kind = kind
    @args = args
    @variable = args.map { |a| a.is_a?(Symbol) && a.start_with?("?") }
  end

  # The first argument's value under the bindings, if it has one: the index is asked for it.
  def lead(bindings)
    first = @args[0]
    @variable[0] ? bindings[first] : first
  end

  # The bindings with what this fact adds; nil when it does not match.
  def match(fact, bindings)
    return nil unless fact.args.size == @args.size
    found = bindings
    @args.each_with_index do |arg, i|
      value = fact.args[i]
      if @variable[i]
        bound = found[arg]
        if bound.nil?
          found = found.dup if found.equal?(bindings)
          found[arg] = value
        elsif bound != value
          return nil
        end
      elsif arg != value
        return nil
      end
    end
    found
  end
end

class Rule
  attr_reader :name, :salience, :conditions, :tests, :action

  def initialize(name, salience, &body)
    @name = name
    @salience = salience
    @conditions = []
    @tests = []
    instance_eval(&body)
  end

  def given(kind, *args) = @conditions << Pattern.new(kind, args)
  def test(&block) = @tests << block
  def act(&block) = @action = block
end

# A rule that may fire, with the facts that let it.
class Activation
  attr_reader :rule, :bindings, :facts

  def initialize(rule, bindings, facts)
    @rule = rule
    @bindings = bindings
    @facts = facts
  end

  def rank = [@rule.salience, @facts.map(&:age).max]
end

class Engine
  attr_reader :fired, :facts

  def initialize
    @rules = []
    @triggers = Hash.new { |h, k| h[k] = [] }
    @facts = {}
    @by_kind = Hash.new { |h, k| h[k] = {} }
    @by_lead = Hash.new { |h, k| h[k] = {} }
    @agenda = Hash.new { |h, k| h[k] = [] }
    @age = 0
    @fired = Hash.new(0)
  end

  def rule(name, salience: 0, &body)
    rule = Rule.new(name, salience, &body)
    @rules << rule
    rule.conditions.each_with_index { |c, i| @triggers[c.kind] << [rule, i] }
  end

  def assert(kind, *args)
    key = [kind, *args]
    return @facts[key] if @facts.key?(key)
    fact = Fact.new(kind, args, @age += 1)
    @facts[key] = fact
    @by_kind[kind][key] = fact
    @by_lead[[kind, args[0]]][key] = fact
    activate(fact)
    fact
  end

  def retract(fact)
    key = fact.key
    return unless @facts.delete(key)
    @by_kind[fact.kind].delete(key)
    @by_lead[[fact.kind, fact.args[0]]].delete(key)
  end

  def holds?(kind, *args) = @facts.key?([kind, *args])
  def all(kind) = @by_kind[kind].values

  # Fires until nothing is left on the agenda, or `limit` rules have fired.
  def run(limit = 1_000_000)
    count = 0
    while count < limit && (activation = take)
      next unless activation.facts.all? { |f| @facts[f.key].equal?(f) }
      activation.rule.action.call(self, activation.bindings, activation.facts)
      @fired[activation.rule.name] += 1
      count += 1
    end
    count
  end

  private

  def take
    salience = @agenda.keys.max
    return nil unless salience
    list = @agenda[salience]
    found = list.pop
    @agenda.delete(salience) if list.empty?
    found
  end

  # Joins a new fact, at each condition it fits, with what is known for the other conditions.
  def activate(fact)
    @triggers[fact.kind].each do |rule, at|
      bindings = rule.conditions[at].match(fact, {})
      join(rule, 0, at, fact, bindings, []) if bindings
    end
  end

  def join(rule, step, at, fact, bindings, facts)
    if step == rule.conditions.size
      return unless rule.tests.all? { |t| t.call(bindings) }
      @agenda[rule.salience] << Activation.new(rule, bindings, facts)
      return
    end
    return join(rule, step + 1, at, fact, bindings, facts + [fact]) if step == at
    pattern = rule.conditions[step]
    lead = pattern.lead(bindings)
    known = lead.nil? ? @by_kind[pattern.kind] : @by_lead[[pattern.kind, lead]]
    known.each_value do |other|
      # Of equal conditions, a fact that is the new one itself stands only where it was put.
      next if other.equal?(fact) && step < at
      found = pattern.match(other, bindings)
      join(rule, step + 1, at, fact, found, facts + [other]) if found
    end
  end
end

def kinship(engine)
  engine.rule("mother") { given :parent, :"?p", :"?c"; given :woman, :"?p"; act { |e, b, _| e.assert(:mother, b[:"?p"], b[:"?c"]) } }
  engine.rule("father") { given :parent, :"?p", :"?c"; given :man, :"?p"; act { |e, b, _| e.assert(:father, b[:"?p"], b[:"?c"]) } }
  engine.rule("ancestor of a child", salience: 2) { given :parent, :"?p", :"?c"; act { |e, b, _| e.assert(:ancestor, b[:"?p"], b[:"?c"]) } }
  engine.rule("ancestor of a descendant", salience: 1) do
    given :parent, :"?p", :"?c"
    given :ancestor, :"?c", :"?d"
    act { |e, b, _| e.assert(:ancestor, b[:"?p"], b[:"?d"]) }
  end
  engine.rule("sibling") do
    given :parent, :"?p", :"?a"
    given :parent, :"?p", :"?b"
    test { |b| b[:"?a"] < b[:"?b"] }
    act { |e, b, _| e.assert(:sibling, b[:"?a"], b[:"?b"]) }
  end
  engine.rule("uncle or aunt") do
    given :sibling, :"?a", :"?b"
    given :parent, :"?b", :"?c"
    act { |e, b, _| e.assert(e.holds?(:woman, b[:"?a"]) ? :aunt : :uncle, b[:"?a"], b[:"?c"]) }
  end
  engine.rule("cousin") do
    given :sibling, :"?a", :"?b"
    given :parent, :"?a", :"?c"
    given :parent, :"?b", :"?d"
    act { |e, b, _| e.assert(:cousin, b[:"?c"], b[:"?d"]) }
  end
end

def village(engine, dice, people)
  people.times do |i|
    name = "p#{i}"
    engine.assert(dice.below(2).zero? ? :woman : :man, name)
    next if i < 12
    first = [i - 40, 0].max + dice.below([i, 36].min)
    [first, first + 1].each { |k| engine.assert(:parent, "p#{k}", name) if k < i }
  end
end

def diagnosis(engine)
  engine.rule("reading", salience: 3) do
    given :reading, :"?m", :"?values", :"?t"
    act do |e, _, facts|
      finding = case facts[0]
                in [_, machine, { temperature: 90.. => t, pressure: ..20 => p }, at] then [:leak, machine, t - p, at]
                in [_, machine, { temperature: 90.. => t }, at] then [:hot, machine, t, at]
                in [_, machine, { vibration: 60.. => v, speed: }, at] if speed > 50 then [:worn, machine, v + speed, at]
                in [_, machine, { pressure: ..10, speed: 0..5 }, at] then [:idle, machine, 0, at]
                in [_, machine, Hash, at] then [:fine, machine, 0, at]
                end
      e.retract(facts[0])
      e.assert(:finding, finding[1], finding[0], finding[2], finding[3])
    end
  end
  engine.rule("repeated", salience: 2) do
    given :finding, :"?m", :"?what", :"?x", :"?t"
    given :finding, :"?m", :"?what", :"?y", :"?u"
    test { |b| b[:"?what"] != :fine && b[:"?t"] + 1 == b[:"?u"] }
    act { |e, b, _| e.assert(:trend, b[:"?m"], b[:"?what"], b[:"?u"]) }
  end
  engine.rule("alarm", salience: 2) do
    given :trend, :"?m", :hot, :"?t"
    given :finding, :"?m", :leak, :"?x", :"?u"
    test { |b| (b[:"?t"] - b[:"?u"]).abs < 4 }
    act { |e, b, _| e.assert(:alarm, b[:"?m"], "m#{b[:"?m"]} since #{[b[:"?t"], b[:"?u"]].min}") }
  end
  engine.rule("repair", salience: 1) do
    given :alarm, :"?m", :"?text"
    given :crew, :"?who", :free
    act do |e, b, facts|
      facts.each { |f| e.retract(f) }
      e.assert(:repaired, b[:"?m"], b[:"?who"], b[:"?text"].size)
      e.assert(:crew, b[:"?who"], :free)
    end
  end
  engine.rule("forget", salience: 0) do
    given :now, :"?n"
    given :finding, :"?m", :"?what", :"?x", :"?t"
    test { |b| b[:"?t"] + 5 < b[:"?n"] }
    act { |e, _, facts| e.retract(facts[1]) }
  end
end

def watch(engine, dice, machines, hours)
  3.times { |i| engine.assert(:crew, "crew #{i}", :free) }
  hours.times do |hour|
    machines.times do |m|
      engine.assert(:reading, m, { temperature: 60 + dice.below(45), pressure: dice.below(80), vibration: dice.below(75), speed: dice.below(100) }, hour)
    end
    engine.run
    engine.all(:now).each { |f| engine.retract(f) }
    engine.assert(:now, hour)
    engine.run
  end
end

size = Integer(ARGV[0] || 40)
dice = Dice.new(42)
sum = 0
(size / 2 + 1).times do
  engine = Engine.new
  kinship(engine)
  village(engine, dice, 60)
  engine.run
  sum = (sum * 31 + engine.facts.size) % 1_000_003
  engine.fired.each { |name, n| sum = (sum * 31 + name.size * n) % 1_000_003 }
end
engine = Engine.new
diagnosis(engine)
watch(engine, dice, 40, size * 4)
engine.fired.each { |name, n| sum = (sum * 31 + name.size * n) % 1_000_003 }
engine.all(:repaired).each { |f| sum = (sum * 31 + f.to_s.sum) % 1_000_003 }
puts "checksum #{sum}"
