# A constant that was made private stays so when it is loaded, opened or set again, and when its class gets its name.
require "tmpdir"
def t
  yield.inspect
rescue NameError => e
  e.message.lines.first.chomp
end
dir = Dir.mktmpdir
File.write("#{dir}/private_class.rb", "class Outer; class Later; end; end")
File.write("#{dir}/private_value.rb", "class Outer; VALUE = 5; end")
$:.unshift dir
class Outer
  autoload :Later, "private_class"
  autoload :VALUE, "private_value"
  private_constant :Later, :VALUE
  def self.later = Later
  def self.value = VALUE
end
puts t { Outer::Later }, t { Outer::VALUE }
puts t { Outer.later }, t { Outer.value }
puts t { Outer::Later }, t { Outer::VALUE }
class Outer; class Later; X = 1; end; end
puts t { Outer::Later }, t { Outer.later::X }

made = Class.new { const_set(:In, Class.new); private_constant :In; const_set(:Open, Class.new) }
Named = made
puts t { Named::In }, t { Named::Open }, t { Named.send(:const_get, :In) }
class Named; remove_const(:In); In = 3; end
puts t { Named::In }
class Named; private_constant :Open; end
verbose, $VERBOSE = $VERBOSE, nil
class Named; Open = 4; end
$VERBOSE = verbose
puts t { Named::Open }

module Old
  A = 1
  deprecate_constant :A
end
$VERBOSE = false
Warning[:deprecated] = true
def Warning.warn(m, **) = puts(m[/warning: (.*)/, 1])
module Old; A = 3; end
puts t { Old::A }
