# Random calls at several managers, which have to come to the same.
S = Kumihimo::Segments
VALUES = [1, nil, "s", :sym, [1, 2], { a: 1 }, 1.5, 2**80, "x" * 20_000, 1..3, Time.at(5), true, [nil, "frozen".freeze].freeze].freeze
KEYS = %w[a b c].freeze

# A call, its arguments and options.
def call(chance)
  key, value = KEYS.sample(random: chance), VALUES.sample(random: chance)
  after = [nil, nil, 0, 1, 5].sample(random: chance)
  case chance.rand(20)
  when 0..2 then [:put, [key, value], {}]
  when 3 then [:put, [key, value], { move: true }]
  when 4 then [:put, [key, value], { timeout: 0 }]
  when 5 then [:put?, [key, value], { move: chance.rand(2) == 0 }]
  when 6 then [:update, [key, value], {}]
  when 7 then [:update, [key, value], { move: true }]
  when 8 then [:put, [key, value], { ttl: 1000, not_before: 0 }]
  when 9 then [:put_all, [key, Array.new(chance.rand(5)) { VALUES.sample(random: chance) }], {}]
  when 10 then [:peek?, [key, :none], { after: }]
  when 11 then [:take?, [key, :none], { after: }]
  when 12 then [:peek, [key], { timeout: 0, after: }]
  when 13 then [:take, [key], { timeout: 0, after: }]
  when 14 then [:peek_segment, [key], { timeout: 0, after: }]
  when 15 then [:take_segment, [key], { timeout: 0, after: }]
  when 16 then [:size, [key], {}]
  when 17 then [:stat, [key], {}]
  when 18 then [:limit, [key, [nil, 2, 9].sample(random: chance)], {}]
  else [:keys, [["", "a", "z"].sample(random: chance)], {}]
  end
end

def said(manager, name, arguments, options)
  found = manager.public_send(name, *Marshal.load(Marshal.dump(arguments)), **options)
  case found
  when S::Segment then [found.index, found.value, found.owned?, found.changed?, found.deliveries]
  when manager then :itself
  when Hash then found.except(:waiting_puts)
  else found
  end
rescue StandardError => error
  error.class
end

# Would it wait for room?
def waits?(name, arguments, options)
  return false unless %i[put put_all].include?(name) && options[:timeout].nil?
  stat = S.local.stat(arguments[0])
  stat[:limit] && stat[:segments] + stat[:delayed] + (name == :put_all ? arguments[1].size : 1) > stat[:limit]
end

# The calls of a seed, at this node's manager and at others by what they are.
def same(others, seed)
  chance = Random.new(seed)
  done = Hash.new(0)
  1500.times do |step|
    name, arguments, options = call(chance)
    next if waits?(name, arguments, options)
    want = said(S.local, name, arguments, options)
    others.each do |what, manager|
      found = said(manager, name, arguments, options)
      puts "#{step}, #{name} #{arguments.inspect[0, 80]} #{options}: #{want.inspect[0, 80]}, at #{what} #{found.inspect[0, 80]}" if found != want
    end
    done[want.is_a?(Class) ? want : name] += 1
  end
  p done.values.sum > 1000, done.size, done.keys.grep(Class).map(&:name).sort
end
