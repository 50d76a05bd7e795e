# What frames of evaluated texts are called: as the place that they run in.
def label = yield rescue $!.backtrace_locations[0].label
def foo = eval("raise 'ev'")
p label { foo }
def bar = [1].each { eval("raise 'ev'") }
p label { bar }
def deep = [1].each { eval("[2].each { raise 'x' }") }
p label { deep }
class A; def m = instance_eval("raise 'z'"); def n = binding; end
p label { A.new.n.eval("raise 'q'") }
def made = eval("def zz = raise('w')")
made
p label { zz }
begin
  eval("raise 'top'")
rescue => e
  p e.backtrace_locations[0].label, e.backtrace_locations[1].label
end
begin
  TOPLEVEL_BINDING.eval("raise 'tb'")
rescue => e
  p e.backtrace_locations[0].label
end
p eval("__method__"), eval("def self.mm = __method__; mm")
def sup = eval("super")
begin; sup; rescue NoMethodError => e; p e.message[/super: no superclass method .sup'/] ; end
