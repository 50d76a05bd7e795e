# Constants, autoload, require, globals and symbols.
require "tmpdir"
def together(n)
  go = false
  ts = n.times.map { |i| Thread.new { Thread.pass until go; yield i } }
  go = true
  ts.map(&:value)
end
T = 6

module Box; end
together(T) { |t| 80.times { |i| Box.const_set("C#{t}_#{i}", t * 100 + i) } }
p [:const_set, Box.constants.size, Box.constants.sum { |c| Box.const_get(c) }]
together(T) { |t| 80.times { |i| Box.send(:remove_const, "C#{t}_#{i}") } }
p [:remove_const, Box.constants.size]

$VERBOSE = nil
Box::FLIP = 0
done = false
r = 3.times.map { Thread.new { seen = true; until done; seen &&= Box::FLIP.is_a?(Integer); Thread.pass; end; seen } }
200.times { |i| Box.const_set(:FLIP, i); Thread.pass }
done = true
p [:reassigned, r.map(&:value)]

class Missing
  @asked = Queue.new
  class << self
    attr_reader :asked
    def const_missing(n) = (asked << n; n.to_s)
  end
end
r = together(T) { |t| 20.times.map { |i| Missing.const_get("M#{i}") }.uniq.size }
p [:const_missing, r, Missing.asked.size]

Dir.mktmpdir do |d|
  $loads = Queue.new
  12.times do |i|
    File.write("#{d}/once#{i}.rb", "$loads << #{i}\nThread.pass\nclass Once#{i}\n  A = #{i}\n  Thread.pass\n  def self.b = A + 1\nend\n")
    File.write("#{d}/auto#{i}.rb", "$loads << 'auto#{i}'\nThread.pass\nmodule Auto#{i}\n  sleep 0.001\n  V = #{i}\nend\n")
    Object.autoload("Auto#{i}", "#{d}/auto#{i}.rb")
  end
  r = together(T) { 12.times.map { |i| x = require("#{d}/once#{i}"); [x, Object.const_get("Once#{i}").b] } }
  p [:require, r.flatten(1).count { |x, _| x }, r.flatten(1).map(&:last).tally.values.uniq, $loads.size]
  r = together(T) { 12.times.map { |i| Object.const_get("Auto#{i}")::V } }
  p [:autoload, r.uniq == [(0...12).to_a], $loads.size]
  # A file that fails is tried again by the next who asks.
  File.write("#{d}/fails.rb", "$loads << 1\n$tries = $tries.to_i + 1\nraise 'no' if $tries < 4\n")
  r = together(4) { 3.times.map { begin; require("#{d}/fails"); rescue RuntimeError => e; e.message; end } }.flatten
  p [:fails, r.count("no"), r.count(true), r.count(false)]
  $LOAD_PATH.unshift(d)
  $LOADED_FEATURES.size
  r = together(4) { |t| 5.times { |i| File.write("#{d}/own#{t}_#{i}.rb", "OWN#{t}_#{i} = 1"); require "own#{t}_#{i}" } }
  p [:own_files, Object.constants.grep(/\AOWN/).size]
  r = together(4) { |t| 20.times.map { load("#{d}/own0_0.rb") }.uniq }
  p [:load, r]
end

together(T) { |t| 60.times { |i| eval("$g#{t}_#{i} = #{i}; $shared_g#{i} = #{t}") } }
p [:globals, global_variables.grep(/\A\$g\d/).size, global_variables.grep(/\A\$shared_g/).size]
$flip = 0
together(T) { |t| 800.times { |i| $flip = i; raise "torn" unless $flip.is_a?(Integer) } }
p [:global, $flip]

# Held until all are made: what nobody holds may be collected, and is another symbol then.
r = together(T) { |t| 400.times.map { |i| "new_symbol_#{i}".to_sym } }.map { |list| list.map(&:object_id) }
p [:symbols, r.uniq.size, r[0].uniq.size]
r = together(T) { |t| 200.times.map { |i| :"own#{t}_#{i}".to_s == "own#{t}_#{i}" }.all? }
p [:own_symbols, r, Symbol.all_symbols.uniq.size == Symbol.all_symbols.size || true]

o = 60.times.map { Object.new }
r = together(T) { o.map(&:object_id) }
p [:object_id, r.uniq.size, r[0].uniq.size]
r = together(T) { 300.times.map { Object.new.object_id } }.flatten
p [:unique, r.uniq.size]
x = Array.new(50) { |i| "s#{i}" }
r = together(T) { x.map(&:hash) + x.map(&:object_id) }
p [:string_ids, r.uniq.size]

w = ObjectSpace::WeakMap.new
keep = 100.times.map { Object.new }
together(T) { |t| keep.each_with_index { |k, i| w[k] = keep[-1 - i]; w[Object.new] = k; GC.start if i % 50 == 0 && t == 0 } }
p [:weak_map, keep.each_with_index.all? { |k, i| w[k].equal?(keep[-1 - i]) }]
w = ObjectSpace::WeakKeyMap.new if defined?(ObjectSpace::WeakKeyMap)
if w
  names = 100.times.map { |i| "key#{i}" }
  together(T) { |t| names.each_with_index { |k, i| w[k] = i } }
end
p [:weak_keys, names.nil? || names.each_with_index.all? { |k, i| w["key#{i}"] == i }]
