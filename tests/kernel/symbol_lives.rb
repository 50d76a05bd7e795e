# Symbols made while the program runs die when nothing names them any more, and their numbers are used again. Whoever
# still holds one holds the same one.

def churn(n = 60)
  n.times { |i| "passing #{i} #{rand(1000)}".to_sym }
end

# Held by one thing each; the name is put together anew each time it is asked for.
def name(kind, i = 0) = "held by #{kind} #{i}"
def ivar_name = "@held_by_#{[:i, :v].join}"

Held = Class.new { attr_accessor :it }
holder = {}
holder[:local] = name(:local).to_sym
holder[:array] = [name(:array).to_sym]
holder[:key] = {name(:key).to_sym => 1}
holder[:value] = {1 => name(:value).to_sym}
holder[:proc] = ->(x = name(:proc).to_sym) { -> { x } }.call
holder[:object] = Held.new.tap { _1.it = name(:object).to_sym }
holder[:ivar] = Held.new.tap { _1.instance_variable_set(ivar_name, 7) }
holder[:side_ivar] = "".dup.tap { _1.instance_variable_set(ivar_name + "s", 8) }
holder[:method] = Class.new.tap { |c| c.define_method(name(:method)) { 9 } }
holder[:singleton] = Object.new.tap { |o| o.define_singleton_method(name(:singleton)) { 10 } }
holder[:attr] = Class.new { attr_accessor ["held", "by", "attr"].join("_") }
holder[:struct] = Struct.new(["held", "by", "struct"].join("_").to_sym)
holder[:data] = Data.define(["held", "by", "data"].join("_").to_sym)
holder[:const] = Module.new.tap { _1.const_set(["Held", "By", "Const"].join, 11) }
holder[:cvar] = Class.new.tap { _1.class_variable_set("@@" + ["held", "by", "cvar"].join("_"), 12) }
holder[:exception] = begin
  raise NameError.new("no", name(:exception).to_sym)
rescue NameError => e
  e
end
holder[:range] = (name(:range, 1).to_sym..name(:range, 2).to_sym)
holder[:to_proc] = name(:to_proc).to_sym.to_proc
holder[:eval] = eval("-> { [:#{["held", "by", "eval"].join("_")}, #{["k", "w"].join}: 1] }")
holder[:binding] = binding.tap { _1.local_variable_set(["held", "by", "binding"].join("_"), 13) }
holder[:method_object] = holder[:singleton].method(name(:singleton))
holder[:set] = Set[name(:set).to_sym]
holder[:enumerator] = [name(:enumerator, 1), name(:enumerator, 2)].map(&:to_sym).each.tap(&:next)
gate, ready = Queue.new, Queue.new
holder[:thread] = Thread.new do
  mine = name(:thread).to_sym
  ready << true
  gate.pop
  mine
end
ready.pop
holder[:fiber] = Fiber.new { mine = name(:fiber).to_sym; Fiber.yield 1; mine }.tap(&:resume)
holder[:thread_local] = Thread.new { Thread.current[name(:local_of_thread)] = 14; gate.pop; 1 }
holder[:queue] = Queue.new.tap { _1 << name(:queue).to_sym }
$held_by_global = name(:global).to_sym
caught = catch(name(:tag).to_sym) do
  churn
  GC.start
  throw name(:tag).to_sym, :caught
end

before = holder[:local].object_id
5.times { churn; GC.start }

p caught
p holder[:local].equal?(name(:local).to_sym), holder[:local].object_id == before, holder[:local] == :"held by local 0"
p holder[:array] == [name(:array).to_sym], holder[:key][name(:key).to_sym], holder[:value][1] == name(:value).to_sym
p holder[:proc].call, holder[:object].it
p holder[:ivar].instance_variable_get(ivar_name), holder[:ivar].instance_variables
p holder[:side_ivar].instance_variable_get(ivar_name + "s"), holder[:side_ivar].instance_variables
p holder[:method].new.public_send(name(:method)), holder[:method].instance_methods(false)
p holder[:singleton].public_send(name(:singleton)), holder[:singleton].singleton_methods, holder[:method_object].call
p holder[:method_object].name
o = holder[:attr].new
o.held_by_attr = 1
p o.held_by_attr, o.instance_variables, holder[:attr].instance_methods(false).sort
p holder[:struct].new(1), holder[:struct].members, holder[:struct].new(2).held_by_struct
p holder[:data].new(held_by_data: 3), holder[:data].members
p holder[:const].constants, holder[:const]::HeldByConst
p holder[:cvar].class_variables, holder[:cvar].class_variable_get(:@@held_by_cvar)
p holder[:exception].name, holder[:range], holder[:to_proc].inspect[/&:.*\(/]
p holder[:eval].call, holder[:binding].local_variable_get(:held_by_binding), holder[:binding].local_variables.include?(:held_by_binding)
p holder[:set].include?(name(:set).to_sym), holder[:enumerator].next
p holder[:fiber].resume, holder[:queue].pop, $held_by_global
2.times { gate << true }
p holder[:thread].value
p holder[:thread_local].join[name(:local_of_thread)]

# A name comes back as an equal symbol, whatever its number was.
keep = []
20.times do |round|
  keep << :"kept #{round}"
  churn(50)
  GC.start if round % 4 == 0
end
p keep == Array.new(20) { |i| "kept #{i}".to_sym }, keep.uniq.size, keep.map(&:to_s).last
p keep.each_with_index.all? { |s, i| s.name == "kept #{i}" && s.name.equal?(s.name) && s.name.frozen? }

# The encoding of a name is that of its first string as long as the symbol lives.
latin = "\xE9t\xE9 #{1}".dup.force_encoding("ISO-8859-1").to_sym
churn
GC.start
p latin.encoding, latin.to_s.encode("UTF-8")

# A WeakMap does not keep a symbol, and has no other in its place.
map = ObjectSpace::WeakMap.new
value = "value"
kept = "kept by the variable #{2}".to_sym
map[kept] = value
->(m) { 20.times { |i| m["weak #{i}".to_sym] = value } }.call(map)
3.times { churn; GC.start }
p map[kept], map.keys.all? { |k| k == kept || k.to_s.match?(/\Aweak \d+\z/) }

# The table does not grow.
20.times { churn(20) }
GC.start
size = Symbol.all_symbols.size
60.times { churn(20) }
GC.start
p Symbol.all_symbols.size < size + 500
