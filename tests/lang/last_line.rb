# $_ belongs to its thread.
require "stringio"
$_ = "main"
seen = Thread.new { before = $_; $_ = "other"; [before, $_] }.value
p seen, $_
io = StringIO.new("a\nb\n")
io.gets
p $_
begin
  class << Object.new.freeze; def x; end; end
rescue => e
  p e.class
end
begin
  binding.local_variable_get(:_1)
rescue NameError => e
  puts e.message
end
