# Warnings of the runtime name the line that earned them; what the parser says of files that are required is heard.
require "tmpdir"
$dir = Dir.mktmpdir
module Warning
  def self.warn(text, category: nil) = puts(text.delete_suffix("\n").sub($dir, "DIR").sub(/\A.*placed_warnings.rb/, "F") + (category ? " (#{category})" : ""))
end
$VERBOSE = true
Warning[:deprecated] = true
File.open(IO::NULL).then { |f| IO.new(f.fileno, autoclose: false) { } }
File.new(IO::NULL) { }
$; = ","
"a,b".split
$-F = nil
$-F = ";"
$; = nil
$, = "-"
[1, 2].join
$stdout.print 3, "\n"
$stdout.print "4\n"
$, = nil
$/ = "a"
$-0 = "b"
$/ = "\n"
"1e999".to_f
p "1" * 400 == "x", ("1" * 400).to_f, " -1_0e9_99 x".to_f, Float("1e999"), Float("0x1p9999"), "1e3".to_f, Float("-1e999", exception: false)
Encoding.default_external = Encoding.default_external
Encoding.default_internal = nil
sprintf("%d", 1, 2)
"%d" % [1, 2]
Regexp.new(/a/, 1)
Regexp.new("a", :i)
File.open(IO::NULL, "r:nope") { }
File.open(IO::NULL, external_encoding: "UTF-8", encoding: "UTF-8") { }
p [{ a: 1 }.any?([]) { }, [1].any?(1) { }]
module M; module_function; attr_accessor :a; end
class Object
  def respond_to_missing?(*) = super
  remove_method :respond_to_missing?
  def method_missing(...) = super
  remove_method :method_missing
end
class BasicObject; def method_missing(...) = ::Kernel.raise("no"); end
begin
  throw :"a%d", 1
rescue UncaughtThrowError => e
  p e.message
end
Dir.chdir($dir) { Dir.chdir("/"); Dir.chdir($dir) }
path = File.join($dir, "warned.rb")
File.write(path, "x = 1\nif a = 2; end\n$seen = [self.to_s, __method__, local_variables, caller(0).size > 0 && caller(0)[0][/in .*/]]\nreturn\nraise")
p require(path), $seen
p load(path), $seen
m = Module.new
p load(path, m), $seen
$VERBOSE = false
p load(path), $seen
$VERBOSE = nil
p load(path), $seen
File.write(path, "x = 1\nraise 'in it'")
$VERBOSE = true
begin
  load path
rescue => e
  p e.message, e.backtrace_locations.size, e.backtrace[0].sub($dir, "DIR")
end
"1e999".to_f.then { $VERBOSE = nil }
"1e999".to_f
File.delete(path)
Dir.rmdir($dir)
