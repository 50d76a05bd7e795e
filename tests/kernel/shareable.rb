# Ractor.make_shareable freezes all that an object refers to, or raises and has frozen nothing.
def frozen_all?(*objects) = objects.all?(&:frozen?)
def refused
  yield
  "shared"
rescue Ractor::Error, NameError, TypeError, FrozenError => e
  "#{e.class}: #{e.message[/\A[^#\[{"]*/]}"
end

class Point
  attr_reader :x, :more
  def initialize(x, more) = (@x, @more = x, more)
end

class Many
  def initialize = 40.times { |i| instance_variable_set("@v#{i}", +"v#{i}") }
  def all = instance_variables.map { |n| instance_variable_get(n) }
end

# Every kind of cell, with cycles and parts that are there twice.
S = Struct.new(:a, :b)
D = Data.define(:d)
text = +"text"
list = [1, text, [text, +"inner"], { 2 => [+"value"], "key" => :s, [+"list"] => 3.5 }, S.new([+"s"], 1r), D.new([+"d"])]
list << list << Point.new(2**80, { list => list })
list << (+"from".."to") << Set[[+"in a set"]] << Many.new << 1e300 << Complex(1, 2.5) << /re/ << Time.at(0) << "m".match(/m/)
text.instance_variable_set(:@beside, [+"beside"])
hash = Hash.new { }
p Ractor.make_shareable(list).equal?(list), Ractor.shareable?(list)
p frozen_all?(list, text, list[2], list[2][1], list[3], list[3][2][0], list[3].keys[2], list[4].a[0], list[5].d[0], list[7].more, list[8].begin)
p list[9].first.frozen?, list[9].first[0].frozen?, list[10].all.all?(&:frozen?), text.instance_variable_get(:@beside)[0].frozen?
p refused { list << 1 }, refused { list[3][5] = 1 }, refused { text << "x" }, refused { list[9] << 1 }, refused { list[4].b = 1 }

# Asking again, of it and of its parts.
p Ractor.make_shareable(list).equal?(list), Ractor.shareable?(list[2]), Ractor.make_shareable([list, list[7]]).frozen?
p [list.dup, list.clone, list.map(&:itself), list.dup << +"new", text.dup].map { |x| [Ractor.shareable?(x), x.frozen?] }
p Ractor.shareable?(list.clone.each { }), Ractor.shareable?(list.clone(freeze: false)), list.clone(freeze: false).frozen?

# What was frozen by hand is found to be shareable, and stays so.
by_hand = ["a".freeze, { b: "c".freeze }.freeze].freeze
half = ["a".freeze, { b: +"c" }.freeze].freeze
p [by_hand, half].map { |x| 2.times.map { Ractor.shareable?(x) } }
half[1][:b].freeze
p Ractor.shareable?(half)

# One part that cannot be: nothing is frozen, at whatever depth it is, and wherever the walk begins.
[Thread.current, $stdout, Mutex.new, 1.method(:+), [1].each, Queue.new, Fiber.new { }, Monitor.new, binding].each do |bad|
  inner = [+"a", { b: [+"c", Point.new(+"d", [bad])] }]
  outer = [inner, +"z", S.new(inner, [+"t"])]
  def outer.single = 1
  said = [inner, outer].map { |x| refused { Ractor.make_shareable(x) } }.uniq
  parts = [outer, outer[1], inner, inner[0], inner[1], inner[1][:b], inner[1][:b][0], inner[1][:b][1], inner[1][:b][1].x, outer[2], outer[2].b]
  p [bad.class, said] unless said == ["Ractor::Error: can not make shareable object for "]
  p [bad.class, parts.map(&:frozen?)] if parts.any?(&:frozen?) || outer.singleton_class.frozen?
  outer << 1
  inner[0] << "x"
end
whole = [+"a", Object.new]
def (whole[1]).single = 1
Ractor.make_shareable(whole)
p whole[1].singleton_class.frozen?, refused { def (whole[1]).more = 1 }

# Depth costs no stack, and a cycle of any length ends.
deep = last = []
steps = ENV.key?("KUMI_GC_STRESS") ? 500 : 100_000
steps.times { last << (last = []) }
last << deep
Ractor.make_shareable(deep)
p last.frozen?, Ractor.shareable?(last)
deep = last = []
steps.times { last << { k: (last = []) } }
last << $stdout
p refused { Ractor.make_shareable(deep) }, deep.frozen?, deep[0].frozen?, last.frozen?

# Objects with a `freeze` of their own, and Procs, are for Ruby.
class Own
  attr_reader :called, :held
  def initialize(held) = @held = held
  def freeze = (@called = (@called || 0) + 1; super)
end
own = Own.new([+"h"])
Ractor.make_shareable([[own], own])
p own.called, own.frozen?, own.held[0].frozen?
class Never
  def freeze = self
end
p refused { Ractor.make_shareable([Never.new]) }
class Words < String
  def freeze = (@froze = true; super)
  attr_reader :froze
end
w = Words.new("w")
Ractor.make_shareable({ w => [w] })
p w.froze, w.frozen?
both = [own2 = Own.new(1), $stdout]
p refused { Ractor.make_shareable(both) }, own2.called
n = 5
module Holder
  def self.proc_of(n) = proc { n + 1 }
  def self.bad_proc(list) = proc { list }
end
with_proc = [[Holder.proc_of(n)], Hash.new(&Holder.proc_of(2))]
Ractor.make_shareable(with_proc)
p with_proc[0][0].call, with_proc[0][0].frozen?, Ractor.shareable?(with_proc), Ractor.new(with_proc) { |l| l[0][0].call }.value
pair = [+"a", Holder.bad_proc([])]
p refused { Ractor.make_shareable(pair) }, pair[0].frozen?
p refused { Ractor.make_shareable([BasicObject.new]) }
p refused { Ractor.make_shareable([ENV]) }

# A method that is defined later counts.
class Late; end
Ractor.make_shareable(Late.new)
class Late
  def freeze = ($late = true; super)
end
Ractor.make_shareable([Late.new])
p $late

# Keywords and lists are told from shareable ones.
def kw(*args, **keys) = [args, keys]
def old_style(*args) = kw(*args)
ruby2_keywords def passing(*args) = kw(*args)
flagged = Hash.ruby2_keywords_hash({ a: 1 })
p Hash.ruby2_keywords_hash?(flagged), kw(*[flagged]), passing(b: 2), old_style({ c: 3 })
Ractor.make_shareable(flagged)
p Hash.ruby2_keywords_hash?(flagged), kw(*[flagged]), Hash.ruby2_keywords_hash?(Ractor.make_shareable({ a: 1 })), kw(*[{ a: 1 }.freeze])
list_of = proc { |*x| x }
p list_of.call(Ractor.make_shareable([1, 2])), list_of.call([1, 2].freeze), [Ractor.make_shareable([3, 4])].map { |*x| x }
