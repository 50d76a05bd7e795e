# The program's own locals are those of TOPLEVEL_BINDING, and ERB shows them.
x = 1
p TOPLEVEL_BINDING.local_variables, TOPLEVEL_BINDING.local_variable_get(:x)
x = 2
p TOPLEVEL_BINDING.eval("x"), TOPLEVEL_BINDING.eval("x = 5; x"), x
require "erb"
puts ERB.new("<%= x %>").result
def m = TOPLEVEL_BINDING.local_variable_set(:x, 9)
m; p x
[1].each { |q| y = 3; p TOPLEVEL_BINDING.local_variables.size }
w = 3
p TOPLEVEL_BINDING.local_variable_defined?(:w)
TOPLEVEL_BINDING.eval("nn = 4")
p TOPLEVEL_BINDING.eval("nn"), TOPLEVEL_BINDING.local_variables.sort
p TOPLEVEL_BINDING.receiver, TOPLEVEL_BINDING.source_location.class
