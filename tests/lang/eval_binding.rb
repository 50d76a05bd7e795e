x = 1
p eval("x + 1"), eval("y = 5; x + y"), (eval("y") rescue $!.class), binding.eval("x"), eval("__FILE__").class, eval("[__LINE__]", nil, "f", 9)
b = binding
b.local_variable_set(:newv, 3)
p b.local_variable_get(:newv), b.eval("newv + x"), b.local_variable_defined?(:x), b.receiver.inspect
def get_b(q) = binding
bb = get_b(42)
p bb.local_variables, bb.eval("q * 2"), bb.eval("q = 7; q"), bb.local_variable_get(:q)
p instance_eval { self.inspect }, Object.new.instance_eval { @z = 5; @z }, String.class_eval { def evm = "evm #{self}" }, "s".evm
begin
  eval("def (")
rescue SyntaxError => e
  p e.class
end
k = Class.new
k.class_eval("def foo; :foo; end", "file.rb", 10)
p k.new.foo, k.instance_method(:foo).source_location
k.class_exec(5) { |n| define_method(:n) { n } }
p k.new.n, k.new.instance_exec(2) { |v| v + n }
5.times { |i| eval("@v#{i} = #{i}") }
p instance_variables.size, eval("lambda { |a| a * x }").call(4), [1, 2].each { |i| eval("x += i") }, x
